python3 - <<END
import random, struct
random.seed(1)
for name, rows in ("rows.fvecs", 5000), ("queries.fvecs", 100):
    with open(name, "wb") as file:
        for _ in range(rows):
            file.write(struct.pack("<i32f", 32, *[random.gauss(0, 1) for _ in range(32)]))
END
