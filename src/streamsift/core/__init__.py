"""Contracts, validation, vocabularies and plain values that everything else stands on."""
