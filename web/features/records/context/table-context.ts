import { fieldType } from '../../../../src/core/fields/index.ts'
import type { Field, Person, RecordId, TableSchema } from '../../../../src/core/model.ts'
import { type BaseRight, type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import type { GridHandle, MenuAnchor } from '../../../grid/contract.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { FieldDraft } from '../../schema/field-draft.ts'
import type { ViewState } from '../../views/state/view-state.ts'
import type { ViewGroups } from './collapsed-groups.ts'

/** A request to open the field editor, for a field or a new one. */
export interface FieldEditorRequest {
  field: Field | null
  anchor: Element | { x: number; y: number }
  /** Inserts a new field before this one; absent: at the end. */
  beforeFieldId?: string
  /** Draft from an editor that was closed without saving. */
  start?: FieldDraft
}

/** Focus and selection of the shown records, for any kind of view. */
export type RecordsHandle = Pick<GridHandle, 'focus' | 'select' | 'check' | 'clearChecked'> & {
  /** Scrolls to a record in views without row indexes, such as a board. Absent: scrolls to its row. */
  show?(id: RecordId): Promise<void>
}

/** Context of a table's commands and menus. Read it on use: it changes with every render. */
export interface TableContext {
  schema: TableSchema
  state: ViewState
  store: RecordStore
  role: BaseRole
  people: readonly Person[]
  grid: () => GridHandle | null
  /** The cards or pins of a view; absent in a grid. */
  cards?: () => RecordsHandle | null
  /** The groups of a grid; absent in other views. */
  groups?: ViewGroups
  editField: (request: FieldEditorRequest) => void
  /** Opens the filter panel. */
  openFilter: () => void
  openRecord: (id: string | number | null) => void
  /** Checks records and asks for a value to set in all of them. */
  editRecords: (ids: readonly RecordId[]) => void
}

/** The displayed records, of a grid or another kind of view. */
export const shownRecords = (context: Pick<TableContext, 'grid' | 'cards'>): RecordsHandle | null =>
  context.grid() ?? context.cards?.() ?? null

/** Returns the current context. */
export type GetContext = () => TableContext

/** Rights that a read-only table withholds from all roles, see `TableSchema.readOnlyReason`. */
const WRITING: readonly BaseRight[] = ['record.create', 'record.update', 'record.delete', 'import.append']

/** True if the role has the right and the table is not read-only. */
export const can = (context: Pick<TableContext, 'role' | 'schema'>, right: BaseRight): boolean =>
  roleCan(context.role, right) && (context.schema.readOnlyReason === null || !WRITING.includes(right))

/** Finds a field by id, including system fields. */
export const fieldOf = (context: Pick<TableContext, 'schema'>, fieldId: string | null): Field | undefined =>
  context.schema.fields.find((field) => field.id === fieldId)

/** A menu's anchor: the point of a right click, or the element. */
export const anchorOf = (anchor: MenuAnchor): Element | { x: number; y: number } =>
  anchor.point ?? anchor.element

/** True for a field whose cells users can edit. */
export const isWritable = (field: Field): boolean =>
  !field.isSystem && field.readOnlyReason === null && fieldType(field.type).readOnly !== true
