import { z } from 'zod'
import { parseJsonText } from '../../../../src/core/json-text.ts'
import type { ViewKind } from '../../../../src/core/model.ts'
import { plainObject } from '../../../../src/input.ts'
import { wireTime } from '../../../../src/wire/lists.ts'
import type { TableModel } from '../../../schema/index.ts'
import type { LineRow, ShownView } from '../../model/index.ts'
import type { ViewPatch } from '../../settings/index.ts'

/** Where a body is read: the table, and what the kind keeps before it. */
export interface ReadPlace {
  model: TableModel
  options: object
}

/** What a body says in our words. `options` holds only what it names, `meta` only what the kind does not keep. */
export interface KindChange {
  options?: Record<string, unknown>
  meta?: Record<string, unknown>
  rowHeight?: ViewPatch['rowHeight']
}

/** How REST clients read and write one kind of view (wire reference §9.1): a file each in this folder. */
export interface WireKind {
  kind: ViewKind
  /** True where there is no `GET` for what the kind keeps: it keeps nothing of its own. */
  hasNoOptions?: true
  /** Its word in addresses: `POST /tables/{id}/kanbans`, `PATCH /kanbans/{id}`. */
  path: string
  /** What it has beside the keys of every kind. `meta` is laid over that of the view. */
  present(view: ShownView): Record<string, unknown>
  /**
   * What a body of `POST` or `PATCH` says of what the kind keeps.
   *
   * @throws INVALID_REQUEST_BODY, BAD_REQUEST; FIELD_NOT_FOUND where the ids are looked at here
   */
  read(body: unknown, place: ReadPlace): KindChange
  /** What a column of such a view has beside the keys of every kind. */
  line(view: ShownView, line: LineRow): Record<string, unknown>
}

/** `meta` is an object, or the same as JSON text (wire reference §1.4). */
export const wireMeta = z.union([
  plainObject(100_000),
  z.string().max(100_000).transform(parseMeta).pipe(plainObject(100_000)),
])
/** True and false as clients send them. */
export const wireFlag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)
/** A field's id; null for none, as which some clients send an empty text. */
export const wireFieldId = z
  .string()
  .max(64)
  .nullable()
  .transform((id) => id || null)

function parseMeta(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Which key of a kind's options stands under which name in `meta`. */
export type MetaKeys = Readonly<Record<string, string>>

/** Takes what the kind keeps out of a body's `meta`; null there is the default. */
export function takeMeta(meta: Record<string, unknown> | null | undefined, keys: MetaKeys) {
  const options: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(meta ?? {})) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (key === undefined) rest[name] = value
    else options[key] = value ?? undefined
  }
  return { options, rest }
}

/** What the kind keeps under names in `meta`: all of it, or only what differs from the `defaults`. */
export const putMeta = (options: object, keys: MetaKeys, defaults?: object): Record<string, unknown> => {
  const values: Record<string, unknown> = { ...options }
  const usual: Record<string, unknown> = { ...defaults }
  return Object.fromEntries(
    Object.entries(keys)
      .filter(([, key]) => defaults === undefined || !Bun.deepEquals(values[key], usual[key]))
      .map(([name, key]) => [name, values[key]]),
  )
}

/** A change of options and of the free part of `meta`, where the body names either. */
export const kindChange = (
  options: Record<string, unknown>,
  meta: Record<string, unknown> | undefined,
): KindChange => ({
  ...(Object.keys(options).length > 0 && { options }),
  ...(meta !== undefined && { meta }),
})

/** The object without keys that are absent: null means something, undefined does not. */
export const present = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

/** What the type-specific object of every kind begins with. */
export const commonKeys = ({ model: { table }, row, share }: ShownView) => ({
  fk_view_id: row.id,
  source_id: table.sourceId,
  base_id: table.baseId,
  uuid: share?.id ?? null,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.updatedAt),
  meta: row.meta,
})

/** How a cover fills its place, under the name that clients know. */
export const COVER_META = { fk_cover_image_object_fit: 'coverFit' } as const satisfies MetaKeys

/** Clients call a cover that fills its place `cover`; `crop` is understood too. */
export const coverFit = z.enum(['fit', 'cover', 'crop']).transform((fit) => (fit === 'fit' ? 'fit' : 'crop'))

/** The same as clients write it. */
export const wireCoverFit = (fit: 'fit' | 'crop'): string => (fit === 'fit' ? 'fit' : 'cover')
