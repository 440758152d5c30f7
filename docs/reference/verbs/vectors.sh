cat > docs.tsv <<END
d1	ship boat
d2	boat ocean
d3	ship ocean voyage
d4	tree wood
d5	tree wood leaf
d6	wood boat
END
printf 't1\tvoyage\nt2\tleaf\n' > topics.tsv
