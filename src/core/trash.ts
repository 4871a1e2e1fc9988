import type { RecordId } from './model.ts'
import type { BaseRight } from './roles.ts'

/** The kinds of items in the trash of a base, with the rights to restore them and to delete them forever. */
export const TRASH_KINDS = {
  record: { restore: 'record.restore', purge: 'record.purge' },
  file: { restore: 'record.restore', purge: 'record.purge' },
  field: { restore: 'field.create', purge: 'field.purge' },
  view: { restore: 'view.create', purge: 'view.purge' },
  table: { restore: 'table.restore', purge: 'table.purge' },
} as const satisfies Record<string, { restore: BaseRight; purge: BaseRight }>

export type TrashKind = keyof typeof TRASH_KINDS

export const TRASH_KIND_NAMES = Object.keys(TRASH_KINDS) as TrashKind[]

/** Items that one call restores or deletes forever. */
export const MAX_TRASH_ITEMS = 500

/** Deleted records are counted up to one more: that stands for “more than”. */
export const MAX_COUNTED_RECORDS = 100_000

/** The order in which items are restored: tables first, because fields and records may need them. */
export const RESTORE_ORDER: readonly TrashKind[] = ['table', 'field', 'view', 'record', 'file']
/** The order in which items are deleted forever. */
export const PURGE_ORDER: readonly TrashKind[] = RESTORE_ORDER.toReversed()

/** Names an item in the trash of a base. */
export type TrashRef =
  | { kind: 'record'; tableId: string; recordId: RecordId }
  | { kind: 'file'; fileId: number }
  | { kind: 'field'; fieldId: string }
  /** The log entry that deleted the view. */
  | { kind: 'view'; changeId: number }
  | { kind: 'table'; tableId: string }

/** An item in the trash of a base. */
export interface TrashItem {
  ref: TrashRef
  title: string
  /** The table that it was in; null for tables. */
  table: { id: string; title: string } | null
  deletedAt: string
  /** Null if unknown. */
  deletedBy: string | null
  /** When it is deleted forever; null: never. */
  expiresAt: string | null
  canPurge: boolean
  /** Of a record: the texts of its first values, beside its title. */
  preview?: { title: string; text: string }[]
  /** Of a record: the log entry that deleted it, and how many records of its table are in the trash by it (see `MAX_COUNTED_RECORDS`). */
  deletion?: { changeId: number; records: number }
  /** Of a file: its size in bytes, and the field and record that it was in. */
  file?: { size: number; field: string; recordId: string }
}

/** What the page of the trash lists: items of bases, and deleted bases. */
export const LISTED_TRASH_KINDS = [...TRASH_KIND_NAMES, 'base'] as const

export type ListedTrashKind = (typeof LISTED_TRASH_KINDS)[number]

/** An item with the base that it was in. */
export interface TrashItemOfBase extends TrashItem {
  base: { id: string; title: string }
}

/** A deleted base among the items. */
export interface TrashedBaseItem extends Omit<TrashItem, 'ref'> {
  ref: { kind: 'base' }
  /** Itself. */
  base: { id: string; title: string }
}

/** An item on the page of the trash. */
export type ListedTrashItem = TrashItemOfBase | TrashedBaseItem

/** What was restored from the trash. */
export interface TrashRestored {
  restored: number
  /** Items whose name was in use, with their new names. */
  renamed: { from: string; to: string }[]
  /** Public links that are closed until somebody opens them again. */
  closedLinks: number
  failed: TrashFailure[]
  /** The log entry, if one entry restored everything: undoing it moves the items back. */
  changeId: number | null
}

export interface TrashPurged {
  deleted: number
  failed: TrashFailure[]
}

/** An item that could not be restored or deleted, with the reason for users. */
export interface TrashFailure {
  ref: TrashRef
  message: string
}
