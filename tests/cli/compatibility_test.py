"""Files that earlier releases wrote (tests/compatibility/write.py) give the same results, or are refused with what to do."""

import json
import pathlib
import shutil
import subprocess

import harness

RELEASES = pathlib.Path(__file__).resolve().parents[1] / "compatibility"


class Compatibility(harness.CommandLine):
    def test_files_of_every_release(self):
        releases = sorted(path.parent for path in RELEASES.glob("*/files.json"))
        self.assertIn("0.1.0", [release.name for release in releases])
        for release in releases:
            folder = pathlib.Path(self.folder, release.name)
            shutil.copytree(release, folder)
            files = json.loads((release / "files.json").read_text())
            self.assertGreaterEqual(len(files), 10)
            for kept in files:
                with self.subTest(release=release.name, file=kept["file"]):
                    self.assertTrue((release / kept["file"]).exists())
                    line = kept["command"].format(of=kept["file"], out="out")
                    done = subprocess.run([harness.PROGRAM, *line.split(), "--quiet"], cwd=folder, capture_output=True, text=True)
                    if "refused" in kept:
                        self.assertNotEqual(done.returncode, 0)
                        self.assertIn(kept["file"], done.stderr)
                        self.assertIn(kept["refused"], done.stderr)
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if kept["expected"]:
                        self.assertEqual((folder / "out").read_bytes(), (release / kept["expected"]).read_bytes())


if __name__ == "__main__":
    harness.main()
