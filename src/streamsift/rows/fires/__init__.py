"""FIRES: feature importance and uncertainty from the parameters of a model (fires.py), with its base models."""

from __future__ import annotations

from streamsift.rows.fires.ann import ANN
from streamsift.rows.fires.fires import FIRES
from streamsift.rows.fires.glm import GLM
from streamsift.rows.fires.model import Model, ModelTraits
from streamsift.rows.fires.sdt import SDT

__all__ = ["ANN", "FIRES", "GLM", "SDT", "Model", "ModelTraits"]
