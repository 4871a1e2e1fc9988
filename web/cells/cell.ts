import type { LucideIcon } from 'lucide-react'
import type { ReactNode, Ref } from 'react'
import type { CellValue, FieldOptions, FieldType } from '../../src/core/fields/field-type.ts'
import type { LinkedRecord } from '../../src/core/fields/list-value.ts'
import type { Field, Person, RecordId } from '../../src/core/model.ts'
import type { FileTarget } from '../attachments/file-target.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'

/** A grid cell of fixed height, or a field of an open record that may grow. */
export type CellVariant = 'grid' | 'record'

/** Direction of the selection after a commit. */
export type Move = 'stay' | 'down' | 'up' | 'next' | 'previous'

/** Props of a cell's view. Views are memoised, so they must depend on nothing else. */
export interface ViewProps<O = FieldOptions> {
  value: CellValue
  field: Field
  /** The field's options, completed with the type's defaults. */
  options: O
  variant: CellVariant
  /** Lines of text that fit (grid); a record shows all of them. */
  lines: number
  /** Pixels between the paddings (grid); null in a record. */
  width: number | null
  /** Writes from the view, e.g. a clicked star; absent without the right to write. */
  commit?: (value: CellValue) => void
}

/** The editor's current content: a value to store, or why the text is invalid. */
export type Draft = { ok: true; value: CellValue } | { ok: false; message: string }

/** Interface of an open editor for its owner (a grid cell or record field). */
export interface EditorHandle {
  /** Returns the draft before leaving, without side effects. */
  read(): Draft
  focus(): void
}

/** A linkable record in the picker. */
export interface LinkLine extends LinkedRecord {
  /** The title, formatted by its field. */
  name: string
  /** A few other values, to distinguish records with equal titles. */
  details: readonly string[]
}

/** A page of records in the link picker. */
export interface LinkLines {
  lines: LinkLine[]
  hasMore: boolean
  /** True if a record with the searched title may be created. */
  mayCreate: boolean
}

/** Data access of a link picker: linked and linkable records, and operations on them. */
export interface LinkTarget {
  /** True if at most one record can be linked. */
  isSingle: boolean
  /** Names of the related table's records, e.g. `Task` and `Tasks`. */
  singular: string
  plural: string
  /** False for read-only access. */
  canWrite: boolean
  /** The cell's current value. */
  current(): CellValue
  subscribe(onChange: () => void): () => void
  /** Reads linked or linkable records whose title matches the search. */
  read(
    which: 'linked' | 'linkable',
    page: { search: string; offset: number; limit: number },
    signal: AbortSignal,
  ): Promise<LinkLines>
  /** Updates the cell at once. Resolves false, after showing a message, if the server rejects it. */
  link(record: LinkedRecord): Promise<boolean>
  unlink(record: LinkedRecord): Promise<boolean>
  /**
   * Creates a record with that title and links it; resolves null, after showing a message, if the server rejects it.
   */
  create(title: string): Promise<LinkedRecord | null>
  /** Opens the record. Absent if the user may only see record names. */
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
  /** Creates a select option; resolves true once it exists. Absent without the right. */
  createOption?: (title: string) => Promise<boolean>
  /** Upload target that outlives the editor; cells of files can be edited only with one. */
  files?: FileTarget
  /** Data access of the link picker, for cells of links. */
  links?: LinkTarget
  /** True if the last commit was rejected; `describedBy` is the id of the message. */
  invalid: boolean
  describedBy: string | undefined
  /** Accessible name: the field's title. */
  label: string
  id?: string
  /** Takes the focus when it appears. */
  autoFocus: boolean
}

interface CellKey {
  key: string
  ctrl: boolean
  shift: boolean
  alt: boolean
}

/**
 * View and editor of a field type. One registry line in `index.ts` per type. `O` is the shape of the type's options.
 * (Methods, not function properties, so that a cell of any options fits the registry's `Cell`.)
 */
export interface Cell<O = FieldOptions> {
  type: FieldType<O>
  Icon: LucideIcon
  align: 'start' | 'end' | 'center'
  /** Minimum readable width in pixels. */
  minWidth: number
  /** Width besides text and padding, for fitting a column to its content. */
  extraWidth?: number
  View(props: ViewProps<O>): ReactNode
  /** Draws a shape (pill, avatar, stars); in a list, other values get a chip each. */
  isShape?: true
  /** A `lazyEditor`. Absent: read-only, or edited in the view and by `onKey` (check box, stars). */
  Editor?(props: EditorProps<O>): ReactNode
  /** Accepts dropped and pasted files. */
  takesFiles?: true
  /** In a grid the first click selects the cell, and only the next one changes the value. */
  selectsFirst?: true
  /** The editor is a popup list: an open record shows the view until it is pressed. */
  opensList?: true
  /**
   * Handles a key on the selected cell before the grid does; true if it used the key. Digits set ratings and
   * Space toggles check boxes, so that a column can be filled from the keyboard.
   */
  onKey?(key: CellKey, context: { value: CellValue; options: O; commit: (value: CellValue) => void }): boolean
  /** Opened by Enter or double click on a cell without an editor. False: nothing opened. */
  open?(value: CellValue, field: Field, recordId: RecordId | null): boolean
  /** URL opened by Ctrl+click, or by Enter on a read-only cell, e.g. `mailto:…`. */
  href?(value: CellValue): string | null
  /** Displayed text if it differs from the copied one: `$1,200.00`. */
  shownText?(value: CellValue, options: O): string | undefined
  /** Copied text if it differs from the field type's format: people by e-mail. */
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

const editors: { preload: () => Promise<void> }[] = []

/**
 * An editor, which is loaded after the first content. A grid takes no input before (`preloadEditors`), so that no key
 * is lost.
 */
export function lazyEditor<M, K extends keyof M>(load: () => Promise<M>, name: K) {
  const editor = lazyPart(load, name)
  editors.push(editor)
  return editor
}

/** Loads the editors of all cells. */
export const preloadEditors = (): Promise<unknown> => Promise.all(editors.map((editor) => editor.preload()))
