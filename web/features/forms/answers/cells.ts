import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'

let loaded: Partial<Record<FieldTypeName, Cell>> = {}

/** The cell of a type once `loadCells` has brought it; undefined for types that are asked for in another way. */
export const loadedCell = (type: FieldTypeName): Cell | undefined => loaded[type]

/** Brings the editors of cells, so that a form is drawn whole and nothing jumps. */
export async function loadCells(): Promise<void> {
  loaded = (await import('./form-cells.ts')).FORM_CELLS
}
