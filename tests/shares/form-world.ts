import { type FormField, type FormOptions, formField } from '../../src/core/views/index.ts'
import { byLink, type Secrets } from './world.ts'

type Asked = Partial<Record<keyof Secrets['fields'], Partial<FormField>>>

/** A shared form that asks for these fields, in this order. */
export async function createForm(at: Secrets, asked: Asked, options: Partial<FormOptions> = {}) {
  const { app, trpc, tableId, fields } = at
  const view = await trpc.views.create.mutate({ tableId, title: 'Apply', kind: 'form' })
  const all = (await trpc.schema.table.query({ tableId })).fields
  const byId = new Map(
    Object.entries(asked).map(([name, said], order) => [
      fields[name as keyof typeof fields],
      { said, order },
    ]),
  )
  await trpc.views.arrange.mutate({
    viewId: view.id,
    fields: all.map(({ id }, index) => {
      const found = byId.get(id)
      return {
        fieldId: id,
        show: found !== undefined,
        order: found?.order ?? 100 + index,
        form: found ? formField.parse(found.said) : null,
      }
    }),
  })
  const change = (patch: Partial<FormOptions>) =>
    trpc.views.update.mutate({ viewId: view.id, patch: { options: { ...view.options, ...patch } } })
  await change(options)
  const { id } = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
  const headers = byLink('view', id)
  const visitor = app.trpc(headers)
  return {
    id,
    viewId: view.id,
    headers,
    visitor,
    change,
    submit: (values: Record<string, unknown>) => visitor.shares.submit.mutate({ values }),
    refusal: async (values: Record<string, unknown>) => {
      try {
        await visitor.shares.submit.mutate({ values })
        return null
      } catch (error) {
        const { data } = error as {
          data: { appCode: string; details?: { reason?: string; problems?: { fieldId: string }[] } }
        }
        return [
          data.appCode,
          data.details?.reason ?? data.details?.problems?.map(({ fieldId }) => fieldId) ?? null,
        ]
      }
    },
  }
}

/** The code of a refused answer. */
export const INVALID = 'INVALID_VALUE_FOR_FIELD'
