import type { Field } from './fields/field.ts'
import type { CellValue } from './fields/field-type.ts'
import type { Person } from './fields/people.ts'
import type { Filter } from './filters/filter.ts'
import type { RecordId } from './ids.ts'
import type { BaseRole, HideableRole } from './roles.ts'
import type { RowColoring } from './views/coloring.ts'
import type { FormField } from './views/form.ts'
import type { ViewKind } from './views/view-kind.ts'

/**
 * The product's entities as plain values, as services return them and the web app stores them. Modules that
 * this file imports must import the re-exported types from their own files.
 */

export type { Field, FieldResult } from './fields/field.ts'
export type { Person } from './fields/people.ts'
export type { RecordId } from './ids.ts'
export type { ViewKind } from './views/view-kind.ts'

export interface User {
  id: string
  email: string
  displayName: string | null
  /** Organisation roles, e.g. `['org-level-creator', 'super']`. */
  roles: string[]
}

/** A user with access to a base. */
export interface Member extends Person {
  role: BaseRole
  /** Time of joining, in ISO form. */
  since: string
  /** True for a role in all bases, which only administrators assign. */
  isInAllBases: boolean
  /** True until they have signed up. */
  isInvited: boolean
  /** Sign-up token, visible to the inviter and super admins; else null. */
  inviteToken: string | null
}

/** Result of inviting one address to a base. */
export interface MemberInvitation {
  email: string
  /** Set for people without an account, so that the inviter can pass on the link. */
  inviteToken: string | null
  /** Why the invitation failed; null if it succeeded. */
  problem: string | null
}

export interface Base {
  id: string
  title: string
  description: string | null
  /** `theme` is unvalidated client data; read it with `readTheme`. */
  meta: { iconColor?: string; icon?: string; theme?: unknown }
  order: number
  /** The caller's own role in this base; `owner` for a super admin. */
  role: BaseRole
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  /** Days that deleted items stay in its trash; 0: unlimited. */
  keepsDays: number
}

export interface Table {
  id: string
  baseId: string
  sourceId: string
  /** `view` is a database view, read like a table. */
  kind: 'table' | 'view'
  /** True for the junction table of a many-to-many link; hidden by default. */
  isJunction: boolean
  title: string
  /** Name in the database. It does not follow a rename. */
  tableName: string
  description: string | null
  meta: Record<string, unknown>
  order: number
  /** Incremented with every change to the table's fields; caches and sockets compare it. */
  version: number
  createdAt: string
  updatedAt: string
  deletedAt: string | null
}

/** Where a table is. */
export interface TablePlace {
  baseId: string
  baseTitle: string
  tableId: string
  title: string
}

export type RowHeight = 'short' | 'medium' | 'tall' | 'extra'

export interface ViewField {
  fieldId: string
  show: boolean
  order: number
  /** Pixels. */
  width: number
  /** Name of the footer's summary for this column, or null. */
  summary: string | null
  /** Settings in a form; null without settings and in other view kinds. */
  form: FormField | null
}

export interface Sort {
  /** Id for REST clients, stored with the view's sort. */
  id?: string
  fieldId: string
  direction: 'asc' | 'desc'
}

/** Maximum group levels of a view. */
export const MAX_GROUPS = 3

export interface View {
  id: string
  tableId: string
  title: string
  description: string | null
  kind: ViewKind
  isDefault: boolean
  order: number
  /**
   * Restricts changes to its settings: `collaborative` by role, `locked` until it is unlocked, `personal` to its owner.
   */
  lock: 'collaborative' | 'locked' | 'personal'
  /** Owner of a personal view; null for views without an owner. */
  ownerId: string | null
  meta: Record<string, unknown>
  rowHeight: RowHeight
  /** Number of frozen columns at the start; at least 1. */
  frozen: number
  fields: ViewField[]
  filter: Filter | null
  /** True if visitors do not see all conditions of `filter`: the server applies the others to reads that name the view. */
  isFilterPartial?: boolean
  sorts: Sort[]
  /** Group levels, outermost first; at most `MAX_GROUPS`. */
  groups: Sort[]
  coloring: RowColoring | null
  /** Options of its kind (`core/views`); read with `optionsOf(view, kind)`. */
  options: object
  /** Roles whose view list omits it; always empty for a table's default view. */
  hiddenFrom: HideableRole[]
  /** True while it has an active public link. */
  isShared: boolean
  /** For REST clients: lists through the view have the creation and modification times of the table. */
  showSystemFields?: boolean
}

/** A table as the browser loads it: everything needed to render a view except records. */
export interface TableSchema {
  table: Table
  fields: Field[]
  views: View[]
  /** Why its records are read-only, e.g. a database view; null if they are writable. */
  readOnlyReason: string | null
}

/**
 * A page of records: `rows[i][j]` is the value of `fieldIds[j]` in record `ids[i]`. Arrays make a page of 100
 * rows × 50 fields a third of the size of objects, and cheaper to create.
 */
export interface RecordPage {
  fieldIds: string[]
  ids: RecordId[]
  rows: CellValue[][]
  /** Index of the first record among all matches. */
  offset: number
}
