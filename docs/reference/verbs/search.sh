cat > docs.tsv <<END
cats	A cat chases a mouse, and cats sleep.
dogs	Dogs chase cats.
fish	Fish swim and sleep in the sea.
END
printf 'q1\tchasing cats\nq2\tthe sea\nq3\twhales\n' > topics.tsv
python3 - <<END
import struct
for name, rows in ("base.fvecs", [(0, 0), (3, 4), (1, 0), (0, 2), (1, 0)]), ("queries.fvecs", [(1, 0), (0, 3)]):
    with open(name, "wb") as file:
        for row in rows:
            file.write(struct.pack("<i2f", 2, *row))
END
