import { z } from 'zod'
import { parseJsonOrNull } from '../../../../src/core/json-text.ts'
import type { ViewKind } from '../../../../src/core/model.ts'
import { plainObject } from '../../../../src/input.ts'
import { wireTime } from '../../../../src/wire/lists.ts'
import type { TableModel } from '../../../schema/index.ts'
import type { ShownView, ViewFieldRow } from '../../model/index.ts'
import type { ViewPatch } from '../../settings/index.ts'

/** The table, and the view before the change. */
export interface ReadContext {
  model: TableModel
  options: object
  /** Absent for a new view. */
  title?: string
}

/** The update that a body asks for: the options it names, and the `meta` keys that are not options. */
export interface KindChange {
  options?: Record<string, unknown>
  meta?: Record<string, unknown>
  rowHeight?: ViewPatch['rowHeight']
}

/** How REST clients read and write one kind of view (wire §9.1); one file per kind in this folder. */
export interface WireKind {
  kind: ViewKind
  /** True for a kind without options of its own, which has no `GET /{path}/{id}`. */
  hasNoOptions?: true
  /** Path segment: `POST /tables/{id}/kanbans`, `PATCH /kanbans/{id}`. */
  path: string
  /** The keys of this kind beside the common ones; `meta` is merged into that of the view. */
  present(view: ShownView): Record<string, unknown>
  /**
   * Reads the options from a body of `POST` or `PATCH`.
   *
   * @throws INVALID_REQUEST_BODY, BAD_REQUEST
   */
  read(body: unknown, context: ReadContext): KindChange
  /** The keys of a column of such a view beside the common ones. */
  presentColumn?(view: ShownView, field: ViewFieldRow): Record<string, unknown>
}

/** `meta` is an object, or the same as JSON text (wire §1.4). */
export const wireMeta = z.union([
  plainObject(100_000),
  z.string().max(100_000).transform(parseJsonOrNull).pipe(plainObject(100_000)),
])
/** A field's id or null; some clients send empty text for null. */
export const wireFieldId = z
  .string()
  .max(64)
  .nullable()
  .transform((id) => id || null)

/** Maps names in `meta` to keys of a kind's options. */
export type MetaKeys = Readonly<Record<string, string>>

/** Splits a body's `meta` into options of the kind and the rest; null means the option's default. */
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

/** The options that `meta` holds and that differ from the defaults, by their names in `meta`. */
export const metaOf = (options: object, keys: MetaKeys, defaults: object): Record<string, unknown> => {
  const values: Record<string, unknown> = { ...options }
  const defaultValues: Record<string, unknown> = { ...defaults }
  return Object.fromEntries(
    Object.entries(keys)
      .filter(([, key]) => !Bun.deepEquals(values[key], defaultValues[key]))
      .map(([name, key]) => [name, values[key]]),
  )
}

/** The change of options and of the rest of `meta`, each only if the body names it. */
export const kindChange = (
  options: Record<string, unknown>,
  meta: Record<string, unknown> | undefined,
): KindChange => ({
  ...(Object.keys(options).length > 0 && { options }),
  ...(meta !== undefined && { meta }),
})

/** The object without undefined values. */
export const present = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

/** The keys that the type-specific object of every kind starts with. */
export const commonKeys = ({ model: { table }, row, share }: ShownView) => ({
  fk_view_id: row.id,
  source_id: table.sourceId,
  base_id: table.baseId,
  uuid: share?.id ?? null,
  created_at: wireTime(row.createdAt),
  updated_at: wireTime(row.updatedAt),
  meta: row.meta,
})

/** The name of the cover fit in `meta`. */
export const COVER_META = { fk_cover_image_object_fit: 'coverFit' } as const satisfies MetaKeys

/** REST clients call the fit `crop` `cover`; both are accepted. */
export const coverFit = z.enum(['fit', 'cover', 'crop']).transform((fit) => (fit === 'fit' ? 'fit' : 'crop'))

/** The reverse of `coverFit`. */
export const wireCoverFit = (fit: 'fit' | 'crop'): string => (fit === 'fit' ? 'fit' : 'cover')
