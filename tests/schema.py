"""Checks what programs read by common/front/schema.json."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

from paths import ROOT

IS_HERE = importlib.util.find_spec("jsonschema") is not None


def complaint(document: object) -> str:
    """Returns the reason why a document does not fit the schema; empty if it does, or if jsonschema, which
    checks it, is not installed."""
    if not IS_HERE:
        return ""
    import jsonschema

    schema: Any = json.loads((ROOT / "common/front/schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(document))
    return f"{error.json_path}: {error.message}" if error else ""
