import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'

let loaded: Partial<Record<FieldTypeName, Cell>> = {}

/** The cell of a field type; undefined before `loadCells` or `provideCells` and for types with a form-specific input. */
export const loadedCell = (type: FieldTypeName): Cell | undefined => loaded[type]

/** Loads the cell editors before the first render, so that the form does not shift as they arrive. */
export async function loadCells(): Promise<void> {
  loaded = (await import('./form-cells.ts')).FORM_CELLS
}

/** Provides cell editors that the caller has imported: a page that always needs them saves the request. */
export function provideCells(cells: typeof loaded): void {
  loaded = cells
}
