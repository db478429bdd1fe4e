"""What Schemathesis loads beside schemathesis.toml: a check that has its settings there."""

import fnmatch
import re

import schemathesis


def is_null(case, field):
    """Whether a parameter of a call has the value that Schemathesis writes for null."""
    location, _, name = field.partition(".")
    parameters = {"path": case.path_parameters, "query": case.query}.get(location)
    return parameters is not None and str(parameters.get(name)) == "None"


@schemathesis.check
class RefusalsHaveReasons:
    """Fails if valid data is refused with 422 for something that schemathesis.toml gives no reason for."""

    def __init__(self, rules=None, null_links=()):
        # Operations whose settings differ have another object each, and some of those come without these settings.
        self.rules = rules
        self.null_links = null_links

    def after_response(self, ctx, response, case):
        meta = case.meta
        if self.rules is None or response.status_code != 422 or meta is None or not meta.generation.mode.is_positive:
            return
        operation = case.operation.definition.raw["operationId"]
        patterns = self.rules.get(operation, {})
        is_linked = meta.phase.name.value == "stateful"
        without = []
        for error in response.json()["error"]["errors"]:
            field, code = re.sub(r"\[\d+\]", "", error["field"]), error["code"]
            if is_linked and code in self.null_links and is_null(case, field):
                continue
            if not any(fnmatch.fnmatchcase(f"{field} {code}", pattern) for pattern in patterns):
                without.append(f"{field} {code}: {error['message']}")
        if without:
            raise AssertionError(f"{operation} refuses valid data, and schemathesis.toml has no reason: {without}")
