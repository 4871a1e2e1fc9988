import Papa from 'papaparse'
import { CSV_DELIMITERS } from './format.ts'
import { SEPARATOR_LINE } from './reader.ts'

/** Records that are looked at. */
const SAMPLE = 50

/** The delimiter that gives the most even rows, from the beginning of a text; a comma where none does. */
export function detectDelimiter(text: string): string {
  const sample = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const said = SEPARATOR_LINE.exec(sample)?.[1]
  const known = CSV_DELIMITERS.find((delimiter) => delimiter === said)
  if (known !== undefined) return known
  const { meta } = Papa.parse(sample, {
    preview: SAMPLE,
    newline: '\n',
    // Else the line break at the end counts as a row of one cell, which outweighs a few rows of two.
    skipEmptyLines: true,
    delimitersToGuess: [...CSV_DELIMITERS],
  })
  return CSV_DELIMITERS.find((delimiter) => delimiter === meta.delimiter) ?? ','
}
