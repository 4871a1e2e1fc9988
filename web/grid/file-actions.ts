import type { DragEvent } from 'react'
import type { FileTarget } from '../attachments/file-target.ts'
import { m } from '../messages.gen.ts'
import { CLIPBOARD_MIME } from './clipboard.ts'
import type { Engine } from './engine.ts'
import { type CellPosition, selectCell } from './selection.ts'

/** Selects the cell under dragged files if it accepts them. */
export function dragFiles(engine: Engine, event: DragEvent, cell: CellPosition | null): void {
  if (!event.dataTransfer.types.includes('Files') || !cell || !takesFiles(engine, cell)) return
  // Elsewhere on the grid a file is imported.
  event.preventDefault()
  event.dataTransfer.dropEffect = 'copy'
  const { active } = engine
  if (active?.row !== cell.row || active.column !== cell.column) engine.select(selectCell(cell), null)
}

/** Uploads files dropped on a cell. */
export function dropFiles(engine: Engine, event: DragEvent, cell: CellPosition | null): void {
  const files = [...event.dataTransfer.files]
  const target = files.length > 0 && cell ? targetOf(engine, cell) : null
  if (!target || !cell) return
  event.preventDefault()
  engine.select(selectCell(cell), null)
  engine.focus()
  engine.commands.addFiles?.(target, files)
}

/** Uploads files from the clipboard into the selected cell; false if it does not accept them. */
export function pasteFiles(engine: Engine, data: DataTransfer): boolean {
  const files = [...data.files]
  // Spreadsheets add a picture of the copied cells.
  const isTable = data.getData(CLIPBOARD_MIME) !== '' || /<table[\s>]/i.test(data.getData('text/html'))
  const { active } = engine
  if (files.length === 0 || isTable || !active) return false
  const target = targetOf(engine, active)
  if (target) engine.commands.addFiles?.(target, files)
  return target !== null
}

/** Uploads an image pasted from the menu; the async clipboard exposes no other files. */
export async function pasteImage(engine: Engine, item: ClipboardItem): Promise<boolean> {
  const { active } = engine
  const type = item.types.find((one) => one.startsWith('image/'))
  const target = type && active ? targetOf(engine, active) : null
  if (!type || !target) return false
  const name = `${m.grid_picture()}.${type.slice('image/'.length).split(/\W/, 1)[0]}`
  engine.commands.addFiles?.(target, [new File([await item.getType(type)], name, { type })])
  return true
}

function targetOf(engine: Engine, cell: CellPosition): FileTarget | null {
  const record = takesFiles(engine, cell) ? engine.rowAt(cell.row) : undefined
  const fieldId = engine.columns[cell.column]?.fieldId
  return record && fieldId ? (engine.commands.fileTarget?.(record.id, fieldId) ?? null) : null
}

const takesFiles = (engine: Engine, { row, column }: CellPosition): boolean =>
  row >= 0 &&
  engine.columns[column]?.cell.takesFiles === true &&
  engine.props.rights.editRecords &&
  engine.canEdit(column)
