import type { LucideIcon } from 'lucide-react'
import type { ReactNode, Ref } from 'react'
import type { CellValue, FieldOptions, FieldType } from '../../src/core/fields/field-type.ts'
import type { LinkedRecord } from '../../src/core/fields/list-value.ts'
import type { Field, Person, RecordId } from '../../src/core/model.ts'
import type { FileTarget } from '../attachments/file-target.ts'

/** Where a cell is drawn: in a grid's box of fixed height, or with the room of an open record. */
export type CellVariant = 'grid' | 'record'

/** Where the selection goes once a value is committed. */
export type Move = 'stay' | 'down' | 'up' | 'next' | 'previous'

/** Props of a cell's view. Views are memoised, so they render from these alone. */
export interface ViewProps<O = FieldOptions> {
  value: CellValue
  field: Field
  /** The field's options after the type's defaults. */
  options: O
  variant: CellVariant
  /** Lines of text that fit (grid); a record shows all of them. */
  lines: number
  /** Pixels between the paddings (grid); null in a record. */
  width: number | null
  /** Present where the person may write: lets a star or a check box be clicked without an editor. */
  commit?: (value: CellValue) => void
}

/** The editor's current content: a value to store, or why the text is invalid. */
export type Draft = { ok: true; value: CellValue } | { ok: false; message: string }

/** How the editor's owner (a grid cell, a field of a record) looks into it. */
export interface EditorHandle {
  /** Called when the person is about to leave; must not change anything. */
  read(): Draft
  focus(): void
}

/** A record that may be linked, as the picker shows it. */
export interface LinkLine extends LinkedRecord {
  /** The title as its field writes it. */
  name: string
  /** A few values more, which tell it from others of the same name. */
  details: readonly string[]
}

/** A page of the records of a link, as its picker shows them. */
export interface LinkLines {
  lines: LinkLine[]
  hasMore: boolean
  /** True where a record could be made that is called as what was searched for. */
  mayCreate: boolean
}

/** The cell of a link: what can be chosen there, and what choosing does. */
export interface LinkTarget {
  /** True where one record can be linked at most. */
  isSingle: boolean
  /** Names of the related table's records, e.g. `Task` and `Tasks`. */
  singular: string
  plural: string
  /** False where this person may look, and not change anything. */
  canWrite: boolean
  /** The cell's current value. */
  current(): CellValue
  subscribe(onChange: () => void): () => void
  /** Lines of the records that are linked, or that can be, found by their names. */
  read(
    which: 'linked' | 'linkable',
    page: { search: string; offset: number; limit: number },
    signal: AbortSignal,
  ): Promise<LinkLines>
  /** Updates the cell at once. Resolves false, after a message, if the server refuses. */
  link(record: LinkedRecord): Promise<boolean>
  unlink(record: LinkedRecord): Promise<boolean>
  /** Creates a record with that title and links it; null, after a message, if the server refuses. */
  create(title: string): Promise<LinkedRecord | null>
  /** Opens the record. Absent if the person may only see record names. */
  open?(record: LinkedRecord): void
}

/** Props of a cell's editor. The owner handles Enter, Tab, Escape and blur. */
export interface EditorProps<O = FieldOptions> {
  value: CellValue
  field: Field
  options: O
  variant: CellVariant
  /** The text that opened the editor and replaces the value; null: edit the value, caret at its end. */
  typed: string | null
  ref: Ref<EditorHandle>
  /** Stores a value and closes, e.g. on choosing from a list. */
  commit(value: CellValue, move?: Move): void
  /** Stores a value and stays open, e.g. while ticking several options. */
  change(value: CellValue): void
  cancel(): void
  /** Makes a select option; true once it exists. Absent where the person may not. */
  createOption?: (title: string) => Promise<boolean>
  /** Where uploads go that may end after the editor has closed; for cells of files. */
  files?: FileTarget
  /** Data access of the link picker, for cells of links. */
  links?: LinkTarget
  /** True if the last commit was refused; `describedBy` names the message. */
  invalid: boolean
  describedBy: string | undefined
  /** Accessible name: the field's title. */
  label: string
  id?: string
  /** Takes the focus when it appears. */
  autoFocus: boolean
}

/** A key as it arrived, from the event's own flags. */
interface CellKey {
  key: string
  ctrl: boolean
  shift: boolean
  alt: boolean
}

/**
 * How one field type looks and is edited. One file per type and one line in `index.ts`. `O` is the
 * shape of the type's options. (Methods, not function properties: a cell of any options then fits
 * the registry's `Cell`.)
 */
export interface Cell<O = FieldOptions> {
  type: FieldType<O>
  Icon: LucideIcon
  align: 'start' | 'end' | 'center'
  /** Narrowest width at which the value can still be read. */
  minWidth: number
  /** Pixels beside the text that fitting a column to its content must leave, beyond the padding. */
  extraWidth?: number
  View(props: ViewProps<O>): ReactNode
  /** Draws a shape (pill, avatar, stars); in a list, other values get a chip each. */
  isShape?: true
  /** Absent: read-only, or changed in the view and by `onKey` alone (check box, stars). */
  Editor?(props: EditorProps<O>): ReactNode
  /** Files that are dropped on the cell, or pasted into it, are meant for it. */
  takesFiles?: true
  /** A click on the value changes it once its cell is selected; the first click in a grid only selects. */
  selectsFirst?: true
  /** The editor is a list over the page: a record shows the view until it is pressed. */
  opensList?: true
  /**
   * A key on the selected cell, before the grid's own meaning of it. True: it was used. Digits rate,
   * Space ticks, so a whole column can be filled from the keyboard.
   */
  onKey?(key: CellKey, context: { value: CellValue; options: O; commit: (value: CellValue) => void }): boolean
  /** Opened by Enter or double click on a cell without an editor. False: nothing opened. */
  open?(value: CellValue, field: Field, recordId: RecordId | null): boolean
  /** URL opened by Ctrl+click, or by Enter on a read-only cell, e.g. `mailto:…`. */
  href?(value: CellValue): string | null
  /** The text for people, where it is not the one for other programs: `$1,200.00`. Undefined: it is. */
  shownText?(value: CellValue, options: O): string | undefined
  /** The text for other programs, where it is not the field type's own: people by e-mail. */
  copyText?(value: CellValue, people: ReadonlyMap<string, Person>, field: Field): string
}

const registered = new Map<string, Cell>()

/** Called once by `index.ts`. Cells that draw values of other types (lookups, formulas) find them by `cellOf`. */
export function registerCells(cells: Readonly<Record<string, Cell>>): void {
  for (const [type, cell] of Object.entries(cells)) registered.set(type, cell)
}

/** The cell of a field type, for modules that `index.ts` imports; others use `CELLS`. */
export function cellOf(type: string): Cell {
  const cell = registered.get(type)
  if (!cell) throw new Error(`web/cells/index.ts registers no cell for ${type}`)
  return cell
}

/** Defines the cell of a field type, which types its `options`. */
export function defineCell<O>(type: FieldType<O>, cell: Omit<Cell<O>, 'type'>): Cell<O> {
  return { type, ...cell }
}
