/** Names that spreadsheet programs give to sheets in several languages, which say nothing about a table. */
const PLAIN_SHEET =
  /^(?:sheet|tabelle|table|feuille|feuil|hoja|foglio|blad|planilha|folha|arkusz|ark|list|лист|sayfa|シート|工作表)\s?\d*$/i

/**
 * Suggested title of an imported table: the name of the sheet or list, or of the file without extension if that says more. ''
 * if neither has one.
 * @param table name in the file, '' for none
 * @param isOnly true if the file has no other table
 */
export const titleOfImport = (fileName: string, table: string, isOnly: boolean): string =>
  (table === '' || (isOnly && PLAIN_SHEET.test(table))
    ? fileName.replace(/\.(csv|tsv|tab|txt|xlsx|xlsm|xlsb|xls|ods|json|ndjson|jsonl|geojson)$/i, '')
    : table
  )
    .replace(/[./]+/g, ' ')
    .trim()
    .slice(0, 200)
