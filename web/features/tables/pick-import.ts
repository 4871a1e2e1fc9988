import { type ImportPlace, openImport } from '../imports/open-import.ts'

/** Opens the import and lets the person choose: files, an address or pasted text. */
export const pickImport = (place: ImportPlace): void => openImport(null, place)
