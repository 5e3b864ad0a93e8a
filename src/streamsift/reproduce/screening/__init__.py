"""Wang and Barbu (2021), Online Feature Screening for Data Streams with Concept Drift."""
