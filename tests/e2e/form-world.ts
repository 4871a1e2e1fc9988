import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Config } from '../../src/config.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import type { TableSchema, View } from '../../src/core/model.ts'
import { type FormField, type FormOptions, formField } from '../../src/core/views/form.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'

type FieldInput = NonNullable<
  Parameters<ReturnType<TestApp['trpc']>['schema']['createTable']['mutate']>[0]['fields']
>

/** Fields of a table that a form asks for. */
export const FORM_FIELDS = [
  { title: 'Name', type: 'SingleLineText' as const },
  { title: 'Mail', type: 'Email' as const },
  {
    title: 'Meal',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Meat' }, { title: 'Fish' }, { title: 'Vegan' }] },
  },
  { title: 'Why', type: 'LongText' as const },
  { title: 'Guests', type: 'Number' as const },
  { title: 'Files', type: 'Attachment' as const },
  { title: 'Terms', type: 'Checkbox' as const },
]

/** A table with a form over it that is shared. */
export interface FormWorld {
  baseId: string
  schema: TableSchema
  view: View
  shareId: string
  id: (title: string) => string
  /** The records, each its values by title. */
  records: () => Promise<Record<string, CellValue>[]>
  /** Says something of fields by title, and of the form. */
  say: (fields: Record<string, Partial<FormField>>, options?: Partial<FormOptions>) => Promise<void>
  saved: () => Promise<View>
}

/** One server and one browser for a file of tests about forms; nothing may go wrong in any page. */
export function formTests({
  browserArgs = [],
  config,
}: {
  browserArgs?: readonly string[]
  config?: Partial<Config>
} = {}) {
  let app: TestApp
  let browser: Browser
  let owner: TestUser
  const contexts: BrowserContext[] = []
  const problems: string[] = []

  beforeAll(async () => {
    ;[app, browser] = await Promise.all([createTestApp({ config }), shareBrowser(browserArgs)])
    owner = await app.signUp()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(problems.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await closeContexts(browser)
    await app?.stop()
  })

  async function open(address: string, { user, ...options }: { user?: TestUser; width?: number } = {}) {
    const context = await browser.newContext({ viewport: { width: options.width ?? 1280, height: 800 } })
    contexts.push(context)
    if (user) await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), user.token)
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      // A refusal that the page tells is one that the browser notes as well.
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
        problems.push(message.text())
    })
    await page.goto(`${app.url}${address}`)
    return page
  }

  async function create(fields: FieldInput): Promise<FormWorld> {
    const api = app.trpc(owner.token)
    const base = await createBase(app, owner)
    const schema = await api.schema.createTable.mutate({ baseId: base.id, title: 'Guests', fields })
    const view = await api.views.create.mutate({ tableId: schema.table.id, title: 'Sign up', kind: 'form' })
    const share = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const id = (title: string) => schema.fields.find((field) => field.title === title)?.id ?? title
    const saved = async () => {
      const { views } = await api.schema.table.query({ tableId: schema.table.id })
      return views.find((one) => one.id === view.id) ?? view
    }
    return {
      baseId: base.id,
      schema,
      view,
      shareId: share.id,
      id,
      saved,
      async records() {
        const query = { tableId: schema.table.id, limit: 100, offset: 0 }
        const { fieldIds, rows } = await api.records.list.query({ query })
        const titles = fieldIds.map((fieldId) => schema.fields.find((field) => field.id === fieldId)?.title)
        return rows.map((row) => Object.fromEntries(row.map((value, at) => [titles[at] ?? '', value])))
      },
      async say(byTitle, options) {
        const arranged = Object.entries(byTitle).map(([title, said]) => ({
          fieldId: id(title),
          form: formField.parse(said),
        }))
        if (arranged.length > 0) await api.views.arrange.mutate({ viewId: view.id, fields: arranged })
        if (options)
          await api.views.update.mutate({
            viewId: view.id,
            patch: { options: { ...(await saved()).options, ...options } },
          })
      },
    }
  }

  /** A shared form with rules, a condition, and something required. */
  async function party(): Promise<FormWorld> {
    const world = await create(FORM_FIELDS)
    const isVegan: Filter = { fieldId: world.id('Meal'), operator: 'eq', value: 'Vegan' }
    await world.say(
      {
        Name: { label: 'Who are you?', help: 'As your **friends** call you', required: true },
        Mail: { rules: [{ rule: 'email', value: null, message: null }] },
        Meal: { layout: 'list' },
        Why: { required: true, showIf: isVegan },
        Guests: { rules: [{ rule: 'max', value: 5, message: 'The room is small' }] },
        Terms: { required: true },
      },
      { successMessage: 'See **you**', submitAnother: true },
    )
    return world
  }

  return {
    app: () => app,
    owner: () => owner,
    create,
    party,
    open,
    /** The public page of a form; `rest` follows its address. */
    visit: (world: FormWorld, rest = '', options?: { width?: number }): Promise<Page> =>
      open(`/form#/nc/form/${world.shareId}${rest}`, options),
    /** The form's screen in the app, signed in. */
    build: async (world: FormWorld, user = owner): Promise<Page> => {
      const place = `${world.baseId}/${world.schema.table.id}/${world.view.id}`
      return open(`/#/nc/${place}`, { user })
    },
  }
}
