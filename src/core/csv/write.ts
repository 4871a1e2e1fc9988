import { cellFormatter } from '../fields/cell-text.ts'
import { shownType } from '../fields/field.ts'
import type { CellValue } from '../fields/field-type.ts'
import { fieldType } from '../fields/index.ts'
import type { Field, Person } from '../model.ts'
import { guardText } from './format.ts'

/** The columns of a CSV file. */
interface CsvTable {
  fields: readonly Field[]
  people: readonly Person[]
  /** For fields that follow the caller's clock. */
  timeZone: string
}

/** How values are written. */
export interface CsvOptions {
  /** Prefixes texts that spreadsheets would take for formulas with `'`. */
  isGuarded: boolean
  delimiter: ',' | ';' | '\t'
}

/** Characters that need quotes anywhere in a cell, by delimiter. */
export const SPECIAL = { ',': /[",\r\n]/, ';': /[";\r\n]/, '\t': /["\t\r\n]/ } as const

/** Readers may trim white space at the ends of a cell. */
const isSpace = (character: string): boolean => /[\s\uFEFF]/.test(character)

/** True for ASCII characters that are no white space, which most texts begin and end with. */
const isPrintable = (code: number): boolean => code > 0x20 && code < 0x7f

/** Writes the lines of a CSV file (RFC 4180) with CR LF line ends. */
export function createCsvWriter(
  { fields, people, timeZone }: CsvTable,
  { isGuarded, delimiter }: CsvOptions,
) {
  const special = SPECIAL[delimiter]

  const needsQuotes = (text: string): boolean =>
    special.test(text) ||
    (!isPrintable(text.charCodeAt(0)) && isSpace(text.charAt(0))) ||
    (!isPrintable(text.charCodeAt(text.length - 1)) && isSpace(text.charAt(text.length - 1)))

  function cell(text: string): string {
    if (text === '' || !needsQuotes(text)) return text
    return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`
  }

  const columns = fields.map((field) => {
    const format = cellFormatter(field, { people, timeZone })
    const isText = isGuarded && holdsText(field)
    return {
      isGuarded: isText,
      cell(value: CellValue | undefined): string {
        if (value === null || value === undefined) return ''
        const text = format(value)
        return cell(isText ? guardText(text) : text)
      },
    }
  })

  /** A line with one empty cell would be read as an empty line. */
  const line = (text: string): string => `${text === '' && fields.length === 1 ? '""' : text}\r\n`

  return {
    /** The cells of each field, which may be guarded. */
    columns,
    titles: (): string =>
      line(fields.map(({ title }) => cell(isGuarded ? guardText(title) : title)).join(delimiter)),
    /** @param values in the order of the fields */
    line(values: readonly CellValue[]): string {
      const cells: string[] = []
      // Without an iterator: this runs for each cell of a file. Joined, because a text that grows has to be copied later.
      for (let at = 0; at < columns.length; at++) cells.push(columns[at]?.cell(values[at]) ?? '')
      return line(cells.join(delimiter))
    },
  }
}

/** True for fields with free text; a negative number is not a formula. */
function holdsText(field: Field): boolean {
  const { type } = shownType(field)
  const { filters } = fieldType(type.name as Field['type'])
  return filters !== 'number' && filters !== 'date' && filters !== 'checkbox'
}
