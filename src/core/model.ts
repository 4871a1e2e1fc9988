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
 * The product's nouns as plain values: what services return and what the web app holds. Files of `src/core` that lie
 * below this one import the types that it re-exports from where they are defined.
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

/** Someone who may open a base. */
export interface Member extends Person {
  role: BaseRole
  /** When they joined, in ISO form. */
  since: string
  /** True for a role in all bases, which only administrators give and take. */
  isInAllBases: boolean
  /** True until they have signed up. */
  isInvited: boolean
  /** Token for signing up; only for the person who invited them and for super admins, else null. */
  inviteToken: string | null
}

/** Result of inviting one address to a base. */
export interface MemberInvitation {
  email: string
  /** Set for people who have no account yet: the inviter can hand them the link, mailed or not. */
  inviteToken: string | null
  /** Why the invitation failed; null if it succeeded. */
  problem: string | null
}

export interface Base {
  id: string
  title: string
  description: string | null
  /** `theme` as clients have written it: `readTheme` tells what it is worth. */
  meta: { iconColor?: string; icon?: string; theme?: unknown }
  order: number
  /** The caller's own role in this base; `owner` for a super admin. */
  role: BaseRole
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  /** Days for which deleted items and history are kept; 0: without limit. */
  keepsDays: number
}

export interface Table {
  id: string
  baseId: string
  sourceId: string
  /** A view of the database itself is read like a table. */
  kind: 'table' | 'view'
  /** True for a table that holds the pairs of a many-to-many link; not shown unless asked for. */
  isJunction: boolean
  title: string
  /** Name in the database. It does not follow a rename. */
  tableName: string
  description: string | null
  meta: Record<string, unknown>
  order: number
  /** Grows with every change to the table's fields: caches and sockets compare it. */
  version: number
  createdAt: string
  updatedAt: string
  deletedAt: string | null
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
  /** Its settings in a form; null if it has none yet, and in other kinds of view. */
  form: FormField | null
}

export interface Sort {
  /** Its id for REST clients, kept where a view stores the sort. */
  id?: string
  fieldId: string
  direction: 'asc' | 'desc'
}

/** Most levels that a view can be grouped by. */
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
   * Who may change how it is set up: everyone whose role may (`collaborative`), nobody until it is unlocked
   * (`locked`), or its owner alone (`personal`).
   */
  lock: 'collaborative' | 'locked' | 'personal'
  /** The user who may change it while it is personal; null for views without an owner. */
  ownerId: string | null
  meta: Record<string, unknown>
  rowHeight: RowHeight
  /** How many of the first shown columns stay in place while the rest scroll; at least 1. */
  frozen: number
  fields: ViewField[]
  filter: Filter | null
  sorts: Sort[]
  /** Group levels, outermost first; at most `MAX_GROUPS`. */
  groups: Sort[]
  coloring: RowColoring | null
  /** Options of its kind (`core/views`); read them with `optionsOf(view, kind)`. */
  options: object
  /** Roles for which the view is not listed; always empty for a table's default view. */
  hiddenFrom: HideableRole[]
  /** True while a public link to it is open. */
  isShared: boolean
}

/** A table as the browser opens it: everything to draw a view but its records. */
export interface TableSchema {
  table: Table
  fields: Field[]
  views: View[]
  /** Why its records are read-only, e.g. a view of a connected database; null if they can be written. */
  readOnlyReason: string | null
}

/**
 * Records in columns' order: `rows[i][j]` is the value of `fieldIds[j]` in record `ids[i]`.
 * Arrays and not objects: a page of 100 rows × 50 fields is a third of the size, and cheaper to make.
 */
export interface RecordPage {
  fieldIds: string[]
  ids: RecordId[]
  rows: CellValue[][]
  /** Where the page starts among all that match. */
  offset: number
}
