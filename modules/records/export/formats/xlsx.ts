import type { ExportFormat } from './format.ts'
import { sheetCells } from './xlsx-cells.ts'
import { WORKBOOK_PARTS, workbookPart } from './xlsx-parts.ts'
import { zipped } from './zip.ts'

/** Rows of one sheet, titles included; what is more goes to another (Excel's specifications and limits). */
const MAX_ROWS = 1_048_576

/** A workbook (ECMA-376) with a table's records on its sheet. Texts are texts: nothing in it is a formula. */
export const xlsx: ExportFormat = {
  name: 'xlsx',
  extension: 'xlsx',
  mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  write(content) {
    return zipped(async function* (file) {
      const cells = sheetCells(content)
      const head = `<row r="1">${cells.titles()}</row>`
      let sheets = 1
      let row = 1
      let sheet = file(`xl/worksheets/sheet${sheets}.xml`)
      yield* sheet.write(SHEET_START(content.fields.length) + head)
      for await (const { rows } of content.pages) {
        let text = ''
        for (const values of rows) {
          if (row === MAX_ROWS) {
            yield* sheet.write(text + SHEET_END)
            yield* sheet.end()
            text = ''
            sheet = file(`xl/worksheets/sheet${++sheets}.xml`)
            yield* sheet.write(SHEET_START(content.fields.length) + head)
            row = 1
          }
          text += `<row r="${++row}">${cells.row(values, row)}</row>`
        }
        yield* sheet.write(text)
      }
      yield* sheet.write(SHEET_END)
      yield* sheet.end()
      for (const [path, part] of Object.entries(WORKBOOK_PARTS)) yield* file(path).whole(part)
      for (const [path, part] of workbookPart(content.title, sheets)) yield* file(path).whole(part)
    })
  },
}

const SHEET_START = (columns: number) =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>${
    columns > 0 ? `<cols><col min="1" max="${columns}" width="18" customWidth="1"/></cols>` : ''
  }<sheetData>`
const SHEET_END = '</sheetData></worksheet>'
