import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'
import { lazyPart, loadPart } from '../../../navigation/lazy-screen.ts'

/** The cells of the field types, as far as they have been loaded. */
let loaded: Partial<Record<FieldTypeName, Cell>> = {}

/** The cell of a field type; undefined for types with a form-specific input and before `loadCells`. */
export const loadedCell = (type: FieldTypeName): Cell | undefined => loaded[type]

/** Edits an answer with the editor of a cell. `loadCells` loads it too. */
export const CellAnswer = lazyPart(() => import('./cell-answer.tsx'), 'CellAnswer')

/** Loads the cells of these field types or, by default, of all, with their editors: an answer needs its editor at once. */
export async function loadCells(types?: readonly FieldTypeName[]): Promise<void> {
  const [{ COMMON_CELLS }, { preloadEditors }] = await Promise.all([
    loadPart(() => import('./common-cells.ts')),
    loadPart(() => import('../../../cells/cell.ts')),
    CellAnswer.preload(),
  ])
  if (types?.every((type) => COMMON_CELLS[type])) {
    await preloadEditors()
    loaded = { ...COMMON_CELLS, ...loaded }
    return
  }
  const { FORM_CELLS } = await loadPart(() => import('./form-cells.ts'))
  await preloadEditors()
  loaded = { ...COMMON_CELLS, ...FORM_CELLS }
}
