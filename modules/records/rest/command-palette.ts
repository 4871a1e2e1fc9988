import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import type { BaseRole } from '../../../src/core/roles.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'

/** Limit of the entries of an answer. */
const MAX_ENTRIES = 10_000
/** Bases whose tables and views are read at once. */
const BASES_AT_ONCE = 100

interface Deps {
  auth: AuthService
  bases: BasesService
  schema: SchemaReader
  views: ViewsService
}

/** The places that NocoDB's web client offers in its command palette, bases before tables before views. */
export function commandPaletteRest(kernel: Kernel, { auth, bases, schema, views }: Deps) {
  async function list(actor: Actor): Promise<object[]> {
    await auth.access.authorize(actor, 'base.list')
    const visible = actor.kind === 'user' ? await bases.visible(actor) : []
    const found = { bases: [] as object[], tables: [] as object[], views: [] as object[] }
    const isFull = () => found.bases.length + found.tables.length + found.views.length >= MAX_ENTRIES
    for (let at = 0; at < visible.length && !isFull(); at += BASES_AT_ONCE) {
      const some = visible.slice(at, at + BASES_AT_ONCE)
      const tablesOf = await schema.tablesIn(some.map(({ base }) => base.id))
      const roles = some.flatMap(({ base, role }) =>
        (tablesOf.get(base.id) ?? []).map((table): [string, BaseRole] => [table.id, role]),
      )
      const viewsOf = Map.groupBy(await views.titlesIn(new Map(roles)), ({ tableId }) => tableId)
      for (const { base } of some) {
        const { id: baseId, title: projectName } = base
        const icon = { icon: 'project', iconColor: base.meta.iconColor ?? null }
        found.bases.push({ id: `p-${baseId}`, title: projectName, ...icon, section: 'Bases' })
        for (const { id: tableId, title, meta } of tablesOf.get(baseId) ?? []) {
          const parent = `p-${baseId}`
          const icon = meta.icon ?? 'table'
          found.tables.push({ id: `tbl-${tableId}`, title, parent, icon, projectName, section: 'Tables' })
          for (const { id, title, kind, isDefault } of viewsOf.get(tableId) ?? []) {
            found.views.push({
              id: `vw-${id}`,
              title,
              parent: `tbl-${tableId}`,
              icon: kind,
              projectName,
              section: 'Views',
              is_default: isDefault,
              handler: { type: 'navigate', payload: `/nc/${baseId}/${tableId}/${id}` },
            })
          }
        }
      }
    }
    return [...found.bases, ...found.tables, ...found.views].slice(0, MAX_ENTRIES)
  }

  return new Elysia().use(restBase(kernel, auth)).post('/api/v1/command_palette', ({ actor }) => list(actor))
}
