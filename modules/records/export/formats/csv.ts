import { guardText } from '../../../../src/core/csv/format.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { ExportFormat } from './format.ts'

/** Without it, Excel assumes the system’s encoding. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Text that needs quotes with any delimiter. */
const NEEDS_QUOTES = /["\r\n]|^[\s\uFEFF]|\s$/

/** CSV (RFC 4180), UTF-8, with CR LF line ends. */
export const csv: ExportFormat = {
  name: 'csv',
  extension: 'csv',
  mediaType: 'text/csv',
  async *write({ fields, pages, text }, { isGuarded, delimiter }) {
    const encoder = new TextEncoder()
    const needsQuotes = (value: string) => value.includes(delimiter) || NEEDS_QUOTES.test(value)
    const cell = (value: string) => (needsQuotes(value) ? `"${value.replaceAll('"', '""')}"` : value)
    const guards = fields.map((field) => isGuarded && holdsText(field))
    const line = (cells: string[]) => `${cells.join(delimiter)}\r\n`
    const titles = fields.map(({ title }) => cell(isGuarded ? guardText(title) : title))
    yield encoder.encode(BYTE_ORDER_MARK + line(titles))
    for await (const { rows } of pages) {
      let page = ''
      for (const row of rows) {
        const cells = fields.map((field, at) => {
          const shown = text(field, row[at] ?? null)
          return cell(guards[at] ? guardText(shown) : shown)
        })
        // A line with one empty cell would be read as an empty line.
        page += line(cells.length === 1 && cells[0] === '' ? ['""'] : cells)
      }
      yield encoder.encode(page)
    }
  },
}

/** True for fields with free text; a negative number is not a formula. */
function holdsText(field: Field): boolean {
  const { type } = shownType(field)
  const { filters } = fieldType(type.name as Field['type'])
  return filters !== 'number' && filters !== 'date' && filters !== 'checkbox'
}
