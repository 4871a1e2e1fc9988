import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { type Cell, preloadEditors } from '../../../cells/cell.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { COMMON_CELLS } from './common-cells.ts'

let loaded: Partial<Record<FieldTypeName, Cell>> = COMMON_CELLS

/** The cell of a field type; undefined for types with a form-specific input and, before `loadCells`, for rare types. */
export const loadedCell = (type: FieldTypeName): Cell | undefined => loaded[type]

/** Loads the cell editors of all types. */
export async function loadCells(): Promise<void> {
  const { FORM_CELLS } = await loadPart(() => import('./form-cells.ts'))
  await preloadEditors()
  loaded = { ...COMMON_CELLS, ...FORM_CELLS }
}
