import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.util.Scanner;

/** Score LIBRARY MODEL < ROWS: what score.c does, by JNA on a 64-bit machine, where `long` is C's `size_t`. */
public class Score {
  public interface Rulerank extends Library {
    int rulerank_model_read(String path, PointerByReference model, byte[] error, long errorSize);

    void rulerank_model_free(Pointer model);

    long rulerank_model_columns(Pointer model);

    long rulerank_model_terms(Pointer model);

    int rulerank_score_double(Pointer model, double[] values, long rows, long columns, long stride,
        long[] listBegin, long lists, double[] scores, byte[] error, long errorSize);

    int rulerank_explain_double(Pointer model, double[] values, long rows, long columns, long stride,
        long[] listBegin, long lists, double[] base, double[] added, byte[] error, long errorSize);
  }

  private static void expect(int code, byte[] error) {
    if (code == 0) return;
    System.err.println("score: " + Native.toString(error, "UTF-8"));
    System.exit(code);
  }

  public static void main(String[] arguments) {
    Rulerank library = Native.load(arguments[0], Rulerank.class);
    byte[] error = new byte[256];
    PointerByReference read = new PointerByReference();
    expect(library.rulerank_model_read(arguments[1], read, error, error.length), error);
    Pointer model = read.getValue();
    int columns = (int) library.rulerank_model_columns(model);
    int terms = (int) library.rulerank_model_terms(model);
    Scanner words = new Scanner(System.in);
    double[] values = words.tokens().mapToDouble(word -> Double.parseDouble(word.replace("nan", "NaN"))).toArray();
    int rows = values.length / columns;
    double[] scores = new double[rows];
    double[] base = new double[rows];
    double[] added = new double[rows * terms];
    expect(library.rulerank_score_double(
        model, values, rows, columns, columns, null, 0, scores, error, error.length), error);
    expect(library.rulerank_explain_double(
        model, values, rows, columns, columns, null, 0, base, added, error, error.length), error);
    StringBuilder lines = new StringBuilder();
    for (int d = 0; d < rows; ++d) {
      lines.append(scores[d]).append(' ').append(base[d]);
      for (int t = 0; t < terms; ++t) lines.append(' ').append(added[d * terms + t]);
      lines.append('\n');
    }
    System.out.print(lines);
    library.rulerank_model_free(model);
  }
}
