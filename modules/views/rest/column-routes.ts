import { Elysia } from 'elysia'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Field, ViewKind } from '../../../src/core/model.ts'
import { isFormField } from '../../../src/core/views/form-answers.ts'
import { canGroup, collectsAnswers } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { listed } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { liveGroups, namesRecords, type ViewFieldRow } from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { readFormField } from './kinds/form.ts'
import { presentColumn } from './present.ts'
import { NewViewColumnBody, readColumn, ViewColumnBody, withGroup } from './view-bodies.ts'

/** The columns of views (wire §9.1). */
export function columnsRest(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const list = async (actor: Actor, viewId: string, kind?: ViewKind) => {
    const { shown, fields } = await views.openWithFields(actor, 'view.list', viewId)
    if (kind && shown.row.kind !== kind) throw notFound('View', viewId)
    return fields.map((field) => presentColumn(shown, field))
  }
  const updateColumn = async (actor: Actor, columnId: string, body: unknown, viewId?: string) => {
    await writeColumn(views, actor, await views.requireViewField(columnId, viewId), body)
    return scalar(1)
  }
  /** Updates a column through the path of one kind of view; columns of other kinds are not found there. */
  const updateColumnOfKind = async (actor: Actor, kind: ViewKind, columnId: string, body: unknown) => {
    const { viewId } = await views.requireViewField(columnId)
    if ((await views.load(viewId)).kind !== kind) throw notFound('Field', columnId)
    return updateColumn(actor, columnId, body)
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
      const { fields } = await views.openWithFields(actor, 'view.arrange', viewId)
      const field = fields.find((each) => each.fieldId === fieldId)
      if (!field) throw notFound('Field', fieldId)
      await writeColumn(views, actor, field, body)
      return (await list(actor, viewId)).find((column) => column.fk_column_id === fieldId)
    })
    .patch('/views/:viewId/columns/:lineId', ({ actor, params: { viewId, lineId }, body }) =>
      updateColumn(actor, lineId, body, viewId),
    )
    .patch('/grid-columns/:lineId', ({ actor, params, body }) =>
      updateColumnOfKind(actor, 'grid', params.lineId, body),
    )
    .patch('/form-columns/:lineId', ({ actor, params, body }) =>
      updateColumnOfKind(actor, 'form', params.lineId, body),
    )
    .post('/views/:viewId/show-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, true, request),
    )
    .post('/views/:viewId/hide-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, false, request),
    )
}

/** Updates how a view shows a column, groups by it and asks for it in a form. */
async function writeColumn(
  views: ViewsService,
  caller: Actor,
  { viewId, fieldId, form: before }: ViewFieldRow,
  body: unknown,
): Promise<void> {
  const { row } = await views.openRow(caller, 'view.arrange', viewId)
  const column = readBody(ViewColumnBody, body)
  const form = collectsAnswers(row) ? readFormField(body, before) : undefined
  const change = { ...readColumn(column), ...(form && { form }) }
  const grouping = [column.group_by, column.group_by_order, column.group_by_sort]
  const isGrouping = canGroup(row) && grouping.some((value) => value != null)
  // A shared action id makes both writes one undo step.
  const actor =
    caller.kind === 'user' ? { ...caller, actionId: caller.actionId ?? crypto.randomUUID() } : caller
  if (Object.keys(change).length > 0) await views.arrange(actor, viewId, [{ fieldId, ...change }])
  if (isGrouping) {
    await views.change(actor, viewId, ['view.arrange'], (current, model) => ({
      groups: withGroup(liveGroups(model, current), fieldId, column),
    }))
  }
}

/** "Show all" skips fields that a form cannot ask for and system fields, which are shown one by one. */
const canShow = (kind: ViewKind, field: Field): boolean =>
  collectsAnswers({ kind }) ? isFormField(field) : !field.isSystem

/** "Hide all" keeps the display field, and in a form the required fields without a default. */
const canHide = (kind: ViewKind, field: Field): boolean =>
  !field.isSystem && (namesRecords(kind) ? !field.isDisplay : !field.required || field.defaultValue !== null)

const ignoredIn = (request: Request): ReadonlySet<string> =>
  new Set(listed(new URL(request.url).searchParams, 'ignoreIds').items)
