import { trimCharacters } from '../../../../src/core/trim-characters.ts'
import { escapeXml } from './escape-xml.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Places in the list of styles below. */
export const STYLES = { plain: 0, title: 1, date: 2, moment: 3 } as const

/** Parts of a workbook that are the same for all. */
export const WORKBOOK_PARTS: Record<string, string> = {
  '_rels/.rels': `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/styles.xml': `${HEAD}<styleSheet xmlns="${SPREADSHEET}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>`,
}

/** The parts that name the sheets. */
export function workbookPart(title: string, sheets: number): [string, string][] {
  const numbers = Array.from({ length: sheets }, (_, at) => at + 1)
  const names = numbers.map((number) => sheetName(title, number))
  const list = numbers
    .map(
      (number, at) => `<sheet name="${escapeXml(names[at] ?? '')}" sheetId="${number}" r:id="rId${number}"/>`,
    )
    .join('')
  const relations = numbers
    .map((n) => `<Relationship Id="rId${n}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
    .join('')
  const overrides = numbers
    .map((n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${TYPES}.worksheet+xml"/>`)
    .join('')
  return [
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${DOCUMENT}"><sheets>${list}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${RELATIONS}">${relations}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>${overrides}<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
    ],
  ]
}

/** 31 characters at most, without those that Excel refuses, and not the word that it keeps for itself. */
function sheetName(title: string, number: number): string {
  const suffix = number === 1 ? '' : ` (${number})`
  const plain = trimCharacters(title.replace(/[\\/?*[\]:]/g, ' '), "'").trim()
  const name = plain
    .slice(0, 31 - suffix.length)
    .trim()
    .toWellFormed()
  return `${name === '' || name.toLowerCase() === 'history' ? 'Sheet' : name}${suffix}`
}
