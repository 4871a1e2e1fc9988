import { strToU8, zipSync } from 'fflate'

export type Bytes = Uint8Array<ArrayBuffer>

export const CONTENT = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** A ZIP archive of texts. */
export const archiveOf = (parts: Record<string, string>): Bytes =>
  new Uint8Array(
    zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)]))),
  )

/** A workbook of hand-made parts: the content of one sheet, and other parts. */
export const handmade = (sheet: string, parts: Record<string, string> = {}): Bytes =>
  archiveOf({
    '[Content_Types].xml': `${CONTENT}<Types/>`,
    'xl/workbook.xml': `${CONTENT}<workbook><sheets><sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${CONTENT}<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${CONTENT}<worksheet>${sheet}</worksheet>`,
    ...parts,
  })

export const inline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
export const rowOf = (...cells: string[]) => `<row>${cells.join('')}</row>`
