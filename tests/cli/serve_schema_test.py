"""The server against its OpenAPI file, by schemathesis (PyPI): requests that follow the file and such that break it.
Where schemathesis is missing this ends with 77: skipped. $RULERANK_SCHEMATHESIS is its path."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness
import serve_test

SCHEMATHESIS = os.environ.get("RULERANK_SCHEMATHESIS") or shutil.which("schemathesis")
API = pathlib.Path(__file__).resolve().parents[2] / "server/ranking/openapi.json"


class Schema(serve_test.ServeCommand):
    def test_responses_follow_the_file(self):
        """Statuses, types and bodies are those of the file, and what breaks it is refused. Valid bodies may be refused: a schema
        cannot say that rows have as many values as there are features."""
        docs = self.file("docs.jsonl", serve_test.Search.DOCUMENTS)
        process = self.serve("--model", f"m={self.fit('m.model')}", "--collection", docs)
        self.assertEqual(self.get("/openapi.json"), json.loads(API.read_text()))
        api = json.loads(API.read_text())  # with names that the server has, so that requests reach the models
        api["components"]["parameters"]["model"]["schema"] = {"enum": ["m"]}
        del api["paths"]["/v2/repository/models/{model}/unload"]  # would leave nothing to test
        for body in ("RankRequest", "ExplainRequest", "SearchRequest"):
            members = api["components"]["schemas"][body]["properties"]
            members["model"] = {"enum": ["m"]}
            if "features" in members:
                members["features"] = {"enum": [serve_test.NAMES[:2], serve_test.NAMES]}
        self.file("api.json", json.dumps(api).encode())
        done = subprocess.run([SCHEMATHESIS, "run", "api.json", "--url", f"http://127.0.0.1:{self.port}", "--seed", "43",
                               "--max-examples", "40", "--phases", "examples,coverage,fuzzing",
                               "--exclude-checks", "positive_data_acceptance"],
                              cwd=self.folder, capture_output=True, text=True, timeout=harness.HANGS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.stop(process)


if __name__ == "__main__":
    if not SCHEMATHESIS:
        print("serve_schema_test.py: Skipped\nneeds schemathesis")
        sys.exit(77)
    harness.main()
