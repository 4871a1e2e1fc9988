import { type ImportPlace, openImport } from '../imports/open-import.ts'

/** Opens the import dialog without a source. */
export const pickImport = (place: ImportPlace): void => openImport(null, place)
