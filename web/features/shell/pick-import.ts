import { loadPart } from '../../routes/lazy-screen.ts'

/** Where an imported file goes: into a base as a new table, or into a table. */
export interface ImportTarget {
  baseId: string
  tableId?: string
}

/** Files that the import reads; the picker offers these, and a drop is checked by the import itself. */
const ACCEPT = '.csv,.tsv,.tab,.txt,text/csv,text/tab-separated-values'

/** Opens the import of a file that was dropped or chosen. */
export async function startImport(file: File, target: ImportTarget): Promise<void> {
  const { openImport } = await loadPart(() => import('../imports/open-import.ts'))
  await openImport(file, target)
}

/** Lets the person choose a file to import. Must be called from a click or key press. */
export function pickImport(target: ImportTarget): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = ACCEPT
  input.onchange = () => {
    const file = input.files?.[0]
    if (file) void startImport(file, target)
  }
  input.click()
}
