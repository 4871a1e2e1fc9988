import { Elysia } from 'elysia'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Field, ViewKind } from '../../../src/core/model.ts'
import { canBeAsked } from '../../../src/core/views/form-answers.ts'
import { canGroup, collectsAnswers } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { type LineRow, liveGroups, namesRecords } from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { readFormLine } from './kinds/form.ts'
import { presentLine } from './present.ts'
import { NewViewColumnBody, readLine, ViewColumnBody, withGroup } from './view-bodies.ts'

/** The columns of views (wire reference §9.1). */
export function linesRest(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const list = async (actor: Actor, viewId: string, kind?: ViewKind) => {
    const { shown, lines } = await views.openWithLines(actor, 'view.list', viewId)
    if (kind && shown.row.kind !== kind) throw notFound('View', viewId)
    return lines.map((line) => presentLine(shown, line))
  }
  const updateLine = async (actor: Actor, lineId: string, body: unknown, of: Partial<LineRow> = {}) => {
    const line = await views.requireLine(lineId, of.viewId)
    await write(views, actor, line, body)
    return scalar(1)
  }
  /** Columns of one kind of view have an address of their own; an id of another kind is not known there. */
  const updateOf = async (actor: Actor, kind: ViewKind, lineId: string, body: unknown) => {
    const { viewId } = await views.requireLine(lineId)
    if ((await views.load(viewId)).kind !== kind) throw notFound('Field', lineId)
    return updateLine(actor, lineId, body)
  }
  const showAll = async (actor: Actor, viewId: string, show: boolean, request: Request) => {
    const { row, model } = await views.openRow(actor, 'view.arrange', viewId)
    const ignored = ignoredIn(request)
    const changes = model.fields
      .filter(
        (field) => !ignored.has(field.id) && (show ? canShow(row.kind, field) : canHide(row.kind, field)),
      )
      .map((field) => ({ fieldId: field.id, show }))
    if (changes.length > 0) await views.arrange(actor, viewId, changes)
    return scalar(true)
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/grids/:viewId/grid-columns', ({ actor, params }) => list(actor, params.viewId, 'grid'))
    .get('/views/:viewId/columns', async ({ actor, params }) => ({ list: await list(actor, params.viewId) }))
    .post('/views/:viewId/columns', async ({ actor, params, body }) => {
      const { viewId } = params
      await views.openRow(actor, 'view.arrange', viewId)
      const { fk_column_id: fieldId } = readBody(NewViewColumnBody, body)
      const { lines } = await views.openWithLines(actor, 'view.arrange', viewId)
      const line = lines.find((one) => one.fieldId === fieldId)
      if (!line) throw notFound('Field', fieldId)
      await write(views, actor, line, body)
      return (await list(actor, viewId)).find((column) => column.fk_column_id === fieldId)
    })
    .patch('/views/:viewId/columns/:lineId', ({ actor, params: { viewId, lineId }, body }) =>
      updateLine(actor, lineId, body, { viewId }),
    )
    .patch('/grid-columns/:lineId', ({ actor, params, body }) => updateOf(actor, 'grid', params.lineId, body))
    .patch('/form-columns/:lineId', ({ actor, params, body }) => updateOf(actor, 'form', params.lineId, body))
    .post('/views/:viewId/show-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, true, request),
    )
    .post('/views/:viewId/hide-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, false, request),
    )
}

/** Writes what a body says of one column of a view: how it shows, what groups by it, what a form asks. */
async function write(views: ViewsService, caller: Actor, line: LineRow, body: unknown): Promise<void> {
  const { viewId, fieldId } = line
  const { row } = await views.openRow(caller, 'view.arrange', viewId)
  const column = readBody(ViewColumnBody, body)
  const form = collectsAnswers(row) ? readFormLine(body, line.form) : undefined
  const change = { ...readLine(column), ...(form && { form }) }
  const grouping = [column.group_by, column.group_by_order, column.group_by_sort]
  const isGrouping = canGroup(row) && grouping.some((part) => part != null)
  // One call is one step for undo, also where it writes twice.
  const actor =
    caller.kind === 'user' ? { ...caller, actionId: caller.actionId ?? crypto.randomUUID() } : caller
  if (Object.keys(change).length > 0) await views.arrange(actor, viewId, [{ fieldId, ...change }])
  if (isGrouping) {
    await views.change(actor, viewId, ['view.arrange'], (current, model) => ({
      groups: withGroup(liveGroups(model, current), fieldId, column),
    }))
  }
}

/** What "show all" means: a form can ask for what people write, the product's own fields are shown one by one. */
const canShow = (kind: ViewKind, field: Field): boolean =>
  collectsAnswers({ kind }) ? canBeAsked(field) : !field.isSystem

/** What "hide all" leaves: what names the records, and in a form what no record can be without. */
const canHide = (kind: ViewKind, field: Field): boolean =>
  !field.isSystem && (namesRecords(kind) ? !field.isDisplay : !field.required || field.defaultValue !== null)

function ignoredIn(request: Request): ReadonlySet<string> {
  const query = new URL(request.url).searchParams
  return new Set([...query.getAll('ignoreIds[]'), ...query.getAll('ignoreIds')])
}
