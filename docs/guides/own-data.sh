cat > pool.txt <<END
2 qid:7 1:0.9 2:14 3:1
0 qid:7 1:0.2 2:3 3:0 # docid = B
1 qid:7 1:0.5 2:9 3:0
0 qid:8 1:0.4 2:2 3:1
1 qid:8 1:0.8 2:11 3:0
END
cat > pool.csv <<END
label,qid,docid,bm25,"page rank"
2,q1,A,12.5,0.31
0,q1,B,,0.02
1,q1,C,7.25,0.40
0,q2,D,1.5,0.11
1,q2,E,8.0,0.25
END
