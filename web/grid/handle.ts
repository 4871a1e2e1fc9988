import { clearSelected } from './actions.ts'
import { pasteFromMenu } from './clipboard-actions.ts'
import type { Engine } from './engine.ts'
import { fillFromEdge } from './fill-actions.ts'
import type { GridHandle } from './props.ts'
import { clampCell, selectCell } from './selection.ts'
import { startEditing } from './states/editing.ts'
import { fitColumns } from './states/resizing.ts'

/** What is to be seen must not stand in a closed group. */
function openGroupsOf(engine: Engine, row: number): void {
  if (engine.lines.isShown(row)) return
  engine.props.groups?.open(row)
  engine.refresh()
}

/** The grid as menus, toolbars and dialogs use it. */
export function gridHandle(engine: Engine): GridHandle {
  const columnOf = (fieldId: string | undefined) => {
    const found = engine.columns.findIndex((column) => column.fieldId === fieldId)
    return found >= 0 ? found : (engine.active?.column ?? 0)
  }
  // The browser answers with the event that Ctrl+C gives, so there is one way to copy.
  const byBrowser = (command: 'copy' | 'cut') => {
    engine.focus()
    document.execCommand(command)
  }
  return {
    focus: () => engine.focus(),
    select(rowIndex, fieldId) {
      engine.refresh()
      if (engine.size.rows === 0) return
      const cell = clampCell({ row: rowIndex, column: columnOf(fieldId) }, engine.size)
      openGroupsOf(engine, cell.row)
      engine.select(selectCell(cell), null)
      engine.viewport.reveal(cell, true)
    },
    edit(rowIndex, fieldId) {
      engine.refresh()
      openGroupsOf(engine, rowIndex)
      startEditing(engine, { row: rowIndex, column: columnOf(fieldId) }, null)
    },
    selectedAreas: () => engine.areas(),
    clearChecked: () => engine.checks.clear(),
    check: (ids) => engine.checks.only(ids),
    copy: () => byBrowser('copy'),
    cut: () => byBrowser('cut'),
    paste: () => pasteFromMenu(engine),
    clear: () => {
      clearSelected(engine)
    },
    fillDown: () => fillFromEdge(engine, 'down'),
    fitColumns: (fieldIds) => {
      for (const fieldId of fieldIds) fitColumns(engine, columnOf(fieldId))
    },
  }
}
