import { toStored } from '../../src/core/dates.ts'
import { readAttachments, writeAttachments } from '../../src/core/fields/attachment-item.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { idsIn, joinIds } from '../../src/core/fields/people.ts'
import { readValue } from '../../src/core/fields/read.ts'
import { holdsFiles, isForeignKey, isRecordId, showsPeople } from '../../src/core/fields/traits.ts'
import { type ColumnKind, canonicalReal } from '../../src/db/move/store.ts'
import type { FileValue } from '../../src/db/sheaf-files/index.ts'

/** A column of the new base, and where the file has its values. */
export interface FillColumn {
  /** Title of the field, for messages. */
  title: string
  /** Null: the file has no values of the field. */
  fileColumn: string | null
  type: FieldTypeName
  options: FieldOptions
}

/** A value that does not fit its field and was left out. */
export interface LeftOut {
  table: string
  field: string
  count: number
  /** One of the values, shortened. */
  example: string
}

const MAX_EXAMPLE = 60

/** Counts a value that was left out. */
export function note(leftOut: LeftOut[], table: string, field: string, value: FileValue): void {
  const known = leftOut.find((each) => each.table === table && each.field === field)
  if (known) {
    known.count++
    return
  }
  const example = value instanceof Uint8Array ? '(bytes)' : String(value).slice(0, MAX_EXAMPLE).toWellFormed()
  leftOut.push({ table, field, count: 1, example })
}

/**
 * Reads the values of a column as canonical texts (`ColumnKind`); one that does not fit is null and reported.
 *
 * @param people user ids by how the file names them
 * @param files paths of stored files by those in the file; other files are left out
 */
export function createReader(
  { fileColumn, type, options }: FillColumn,
  kind: ColumnKind,
  people: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
  report: (value: FileValue) => void,
) {
  const definition = fieldType(type)
  const field = { type, options }
  // Checks may have been turned on after a value was stored.
  const unchecked = { type, options: { ...options, validate: false } }

  /** The value, or undefined if it does not fit. */
  function accept(value: string | number | boolean): unknown {
    if (isRecordId(field) || definition.ordersRecords || definition.numbersRecords)
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    if (definition.storage === 'datetime' && definition.readOnly) return instant(value)
    if (isForeignKey(field) && typeof value === 'string' && options.isText !== true) return undefined
    const read = readValue(field, value)
    if (read.ok) return read.value
    if (read.fault !== 'check') return undefined
    const again = readValue(unchecked, value)
    return again.ok ? again.value : undefined
  }

  function cell(value: Exclude<FileValue, null>): string | null | undefined {
    if (value instanceof Uint8Array) return undefined
    const plain = typeof value === 'bigint' ? fromInteger(value, kind) : value
    if (plain === undefined) return undefined
    if (showsPeople(field)) {
      const ids = idsIn(String(plain))
      const known = ids.flatMap((name) => people.get(name) ?? [])
      // People without an account are reported as such.
      const joined = joinIds(known)
      return joined === null ? null : String(joined)
    }
    if (holdsFiles(field)) {
      const items = readAttachments(String(plain))
      const kept = items.flatMap((item) => {
        if (item.path === undefined) return item
        const path = files.get(item.path)
        return path === undefined ? [] : { ...item, path }
      })
      if (kept.length < items.length || items.length === 0) report(value)
      const written = writeAttachments(kept)
      return written === null ? null : String(written)
    }
    const accepted = accept(plain)
    if (accepted === undefined) return undefined
    return accepted === null ? null : canonical(accepted as string | number | boolean, kind)
  }

  return {
    isInFile: fileColumn !== null,
    read(value: FileValue): string | null {
      if (value === null) return null
      const text = cell(value)
      if (text !== undefined) return text
      report(value)
      return null
    },
  }
}

function fromInteger(value: bigint, kind: ColumnKind): number | boolean | undefined {
  if (kind === 'boolean') return value === 1n ? true : value === 0n ? false : undefined
  const number = Number(value)
  return BigInt(number) === value && Number.isSafeInteger(number) ? number : undefined
}

const INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?\+00:00$/

/** A stored time of a record; undefined for other texts. */
function instant(value: unknown): string | undefined {
  if (typeof value !== 'string' || !INSTANT.test(value)) return undefined
  const ms = Date.parse(value.replace(' ', 'T'))
  return Number.isNaN(ms) ? undefined : (toStored(ms) ?? undefined)
}

function canonical(value: string | number | boolean, kind: ColumnKind): string {
  return kind === 'real' ? canonicalReal(Number(value)) : String(value)
}
