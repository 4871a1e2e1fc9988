import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'

/** Limit of the entries of an answer. */
const MAX_ENTRIES = 10_000

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
    for (const { base } of visible) {
      if (isFull()) break
      const { id: baseId, title: projectName } = base
      const icon = { icon: 'project', iconColor: base.meta.iconColor ?? null }
      found.bases.push({ id: `p-${baseId}`, title: projectName, ...icon, section: 'Bases' })
      const tables = await schema.tables(actor, baseId)
      for (const { id, title, meta } of tables) {
        const parent = `p-${baseId}`
        const icon = meta.icon ?? 'table'
        found.tables.push({ id: `tbl-${id}`, title, parent, icon, projectName, section: 'Tables' })
      }
      const shown = new Set(tables.map(({ id }) => id))
      for (const { id, tableId, title, kind, isDefault } of await views.titlesOfBase(actor, baseId)) {
        if (!shown.has(tableId)) continue
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
    return [...found.bases, ...found.tables, ...found.views].slice(0, MAX_ENTRIES)
  }

  return new Elysia().use(restBase(kernel, auth)).post('/api/v1/command_palette', ({ actor }) => list(actor))
}
