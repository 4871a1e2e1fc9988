import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openLink } from '../views/support.ts'
import { column, createTable, M, openShop, outcome, type Shop, scalarOf, TEXT_TYPE } from './support.ts'

// Wire §9: views of every kind but the grid.
let shop: Shop
let table: Awaited<ReturnType<typeof createTable>>
let id: (title: string) => string
beforeAll(async () => {
  shop = await openShop()
  table = await createTable(shop, 'Things', [
    {
      title: 'State',
      column_name: 'state',
      uidt: 'SingleSelect',
      colOptions: { options: [{ title: 'a' }, { title: 'b' }] },
    },
    { title: 'Files', column_name: 'files', uidt: 'Attachment' },
    { title: 'Start', column_name: 'start', uidt: 'Date' },
    { title: 'End', column_name: 'end', uidt: 'Date' },
    { title: 'Place', column_name: 'place', uidt: 'GeoData' },
    { title: 'N', column_name: 'n', uidt: 'Number' },
  ])
  id = (title) => column(table, title).id
})
afterAll(() => shop.app.stop())

const create = (path: string, body: object = {}) =>
  shop.rest.post(`${M}/tables/${table.id}/${path}`, { title: path, ...body })
const made = async (path: string, body: object = {}) => (await create(path, body)).body
const TYPES = { forms: 1, galleries: 2, kanbans: 4, maps: 5, calendars: 6 }
const COMMON = ['fk_view_id', 'source_id', 'base_id', 'uuid', 'created_at', 'updated_at', 'meta']
const OWN = {
  forms: [
    'heading',
    'subheading',
    'success_msg',
    'redirect_url',
    'redirect_after_secs',
    'email',
    'submit_another_form',
    'show_blank_form',
    'banner_image_url',
    'logo_url',
  ],
  galleries: [
    'fk_cover_image_col_id',
    'cover_image',
    'cover_image_idx',
    'next_enabled',
    'prev_enabled',
    'restrict_types',
    'restrict_size',
    'restrict_number',
    'public',
    'dimensions',
    'responsive_columns',
  ],
  kanbans: [
    'fk_grp_col_id',
    'fk_cover_image_col_id',
    'show',
    'order',
    'title',
    'public',
    'password',
    'show_all_fields',
  ],
  maps: ['title', 'fk_geo_data_col_id'],
  calendars: ['title', 'fk_cover_image_col_id', 'calendar_range'],
}

describe.each(Object.keys(TYPES) as (keyof typeof TYPES)[])('%s', (path) => {
  test('are made, read, changed and deleted, with every key, under both addresses', async () => {
    const answer = await create(path, { meta: { mine: 1 }, lock_type: 'locked', order: 99 })
    expect(answer.status).toBe(200)
    const view = answer.body
    expect(view).toMatchObject({ type: TYPES[path], title: path, lock_type: 'locked', meta: { mine: 1 } })
    expect(view).toMatchObject({ owned_by: shop.admin.id, row_coloring_mode: null, uuid: null })
    expect(Object.keys(view.view).sort()).toEqual([...COMMON, ...OWN[path]].sort())
    expect(view.view).toMatchObject({ fk_view_id: view.id, base_id: shop.baseId, meta: { mine: 1 } })

    const read = (prefix: string, viewId = view.id) => shop.rest.get(`${prefix}/${path}/${viewId}`)
    const { columns, ...own } = (await read(M)).body
    expect(own).toEqual(view.view)
    expect(columns === undefined).toBe(path !== 'forms')
    expect((await read('/api/v2/meta')).body).toEqual((await read(M)).body)
    // A view of another kind is none of this.
    const [grid] = table.views
    expect(outcome(await read(M, grid.id))).toEqual([
      404,
      { error: 'VIEW_NOT_FOUND', message: `View '${grid.id}' not found` },
    ])
    expect((await shop.rest.patch(`${M}/${path}/${grid.id}`, {})).status).toBe(404)

    expect((await shop.rest.patch(`${M}/${path}/${view.id}`, { meta: { other: 2 } })).status).toBe(403)
    await shop.rest.patch(`${M}/views/${view.id}`, { lock_type: 'collaborative' })
    const patched = (await shop.rest.patch(`${M}/${path}/${view.id}`, { meta: { other: 2 } })).body
    // The icon, which clients keep in the meta of the view, is not lost by what they write to its kind.
    expect(patched.meta).toEqual({ mine: 1, other: 2 })
    const copy = (await create(path, { copy_from_id: view.id, title: 'Copy' })).body
    expect(copy.view).toMatchObject({ ...patched.view, ...timesOf(copy), ...namesOf(copy, patched) })
    const link = await openLink(shop.app.trpc(shop.admin.token), view.id)
    const listed = (await shop.rest.get(`${M}/tables/${table.id}/views`)).body.list
    expect(listed.find((one: { id: string }) => one.id === view.id)).toMatchObject({
      uuid: link,
      view: { uuid: link },
    })
    expect(scalarOf(await shop.rest.delete(`${M}/views/${view.id}`))).toEqual([200, TEXT_TYPE, true])
    expect((await read(M)).status).toBe(404)
  })

  test('refuse what is no title, no lock and no field of the table', async () => {
    const wrong: [object, number][] = [
      [{ title: undefined }, 400],
      [{ lock_type: 'x' }, 400],
      [{ meta: 'x' }, 400],
      [{ copy_from_id: 'vwxxxxxxxxxxxxxx' }, 404],
    ]
    const strange: Record<typeof path, [object, object] | null> = {
      forms: null,
      galleries: [{ fk_cover_image_col_id: 'cxxxxxxxxxxxxxx' }, { fk_cover_image_col_id: id('N') }],
      kanbans: [{ fk_grp_col_id: 'cxxxxxxxxxxxxxx' }, { fk_grp_col_id: id('N') }],
      maps: [{ fk_geo_data_col_id: 'cxxxxxxxxxxxxxx' }, { fk_geo_data_col_id: id('N') }],
      calendars: [
        { calendar_range: [{ fk_from_column_id: 'cxxxxxxxxxxxxxx' }] },
        { calendar_range: [{ fk_from_column_id: id('N') }] },
      ],
    }
    const view = await made(path, { fk_cover_image_col_id: '', fk_grp_col_id: '', fk_geo_data_col_id: '' })
    expect([view.view.fk_cover_image_col_id, view.view.fk_grp_col_id].filter(Boolean)).toEqual([])
    for (const [body, status] of wrong) expect((await create(path, body)).status).toBe(status)
    for (const [index, body] of (strange[path] ?? []).entries()) {
      const [made, patched] = [
        await create(path, body),
        await shop.rest.patch(`${M}/${path}/${view.id}`, body),
      ]
      expect([made.status, patched.status]).toEqual(index === 0 ? [404, 404] : [400, 400])
      if (index === 0) expect(made.body.error).toBe('FIELD_NOT_FOUND')
      else expect(made.body.msg).toMatch(/field “N”/i)
    }
  })
})

const timesOf = ({ view }: { view: Record<string, unknown> }) => ({
  fk_view_id: view.fk_view_id,
  created_at: view.created_at,
  updated_at: view.updated_at,
})
const namesOf = (copy: { title: string; view: Record<string, unknown> }, from: { view: object }) => ({
  ...('title' in from.view && { title: copy.title }),
  ...('heading' in from.view && { heading: copy.title }),
  ...('calendar_range' in from.view && { calendar_range: copy.view.calendar_range }),
})

describe('a gallery and a kanban', () => {
  test('take the first attachments as their cover', async () => {
    for (const path of ['galleries', 'kanbans']) {
      const { id: viewId, view } = await made(path)
      expect(view).toMatchObject({
        fk_cover_image_col_id: id('Files'),
        meta: { fk_cover_image_object_fit: 'fit' },
      })
      const body = { fk_cover_image_col_id: null, meta: { fk_cover_image_object_fit: 'cover' } }
      const patched = (await shop.rest.patch(`${M}/${path}/${viewId}`, body)).body
      expect(patched.view).toMatchObject(body)
      expect(patched.meta).toEqual({})
      const odd = { meta: { fk_cover_image_object_fit: 'stretch' } }
      expect((await shop.rest.patch(`${M}/${path}/${viewId}`, odd)).status).toBe(400)
    }
  })
})

describe('the stacks of a kanban', () => {
  const choices = (): { id: string; color: string }[] =>
    table.columns.find(({ title }: { title: string }) => title === 'State').colOptions.options

  test('stand in its meta under the id of the column, by the ids of the options', async () => {
    const { id: viewId, view } = await made('kanbans', { fk_grp_col_id: id('State') })
    const [a, b] = choices()
    const fk_column_id = id('State')
    expect(view.meta[id('State')]).toEqual([
      { id: 'uncategorized', title: null, order: 0, color: '#6A7184', collapsed: false },
      { id: a!.id, title: 'a', color: a!.color, order: 1, fk_column_id, collapsed: false },
      { id: b!.id, title: 'b', color: b!.color, order: 2, fk_column_id, collapsed: false },
    ])
    const stacks = [
      { id: a!.id, order: 2 },
      { id: b!.id, order: 1, collapsed: true },
      { id: 'uncategorized', order: 0, hidden: true },
    ]
    const path = `${M}/kanbans/${viewId}`
    const patched = (await shop.rest.patch(path, { meta: { [id('State')]: stacks } })).body
    expect(patched.view.meta[id('State')]).toMatchObject([
      { id: 'uncategorized', order: 0, hidden: true },
      { id: b!.id, title: 'b', order: 1, collapsed: true },
      { id: a!.id, title: 'a', order: 2, collapsed: false },
    ])
    expect(patched.meta).toEqual({})
    // What a client leaves out of a stack stays as it was.
    const again = (await shop.rest.patch(path, { meta: JSON.stringify({ [id('State')]: [{ id: b!.id }] }) }))
      .body
    expect(again.view.meta[id('State')]).toMatchObject([
      { id: b!.id, collapsed: true },
      { id: 'uncategorized' },
      { id: a!.id },
    ])
    const lost = await shop.rest.patch(path, { meta: { [id('State')]: [{ id: 'sxxxxxxxxxxxxxx' }] } })
    expect(outcome(lost)).toEqual([400, { msg: `Field "State" has no option 'sxxxxxxxxxxxxxx'` }])
    expect((await shop.rest.patch(path, { meta: { [id('State')]: 'all' } })).status).toBe(400)
    expect((await shop.rest.patch(path, { fk_grp_col_id: null })).body.view).toMatchObject({
      fk_grp_col_id: null,
      meta: { fk_cover_image_object_fit: 'fit' },
    })
  })
})

describe('a calendar and a map', () => {
  test('name the fields of their days and places', async () => {
    const range = { fk_from_column_id: id('Start'), fk_to_column_id: id('End') }
    const calendar = await made('calendars', { calendar_range: [range] })
    const [first] = calendar.view.calendar_range
    expect(Object.keys(first).sort()).toEqual(
      ['id', 'fk_view_id', 'fk_from_column_id', 'fk_to_column_id', 'label', 'base_id'].sort(),
    )
    expect(first).toMatchObject({ ...range, fk_view_id: calendar.id })
    expect(first.id).toMatch(/^cvr[a-z0-9]{14}$/)
    const path = `${M}/calendars/${calendar.id}`
    expect((await shop.rest.get(path)).body.calendar_range).toEqual([first])
    const meta = { active_view: 'week', hide_weekend: true }
    const patched = (await shop.rest.patch(path, { meta, calendar_range: [] })).body
    expect(patched.view).toMatchObject({ calendar_range: [], meta })
    expect((await shop.rest.patch(path, { meta: { active_view: 'decade' } })).status).toBe(400)

    const map = await made('maps', { fk_geo_data_col_id: null })
    expect(map.view.fk_geo_data_col_id).toBeNull()
    const body = { fk_geo_data_col_id: id('Place') }
    expect((await shop.rest.patch(`${M}/maps/${map.id}`, body)).body.view).toMatchObject(body)
  })
})

describe('a form', () => {
  test('keeps its words, and is called as the view while it has no heading', async () => {
    const { id: viewId, view } = await made('forms', { subheading: 'Please', title: 'Ask us' })
    expect(view).toMatchObject({ heading: 'Ask us', subheading: 'Please', meta: {} })
    const body = {
      heading: 'Questions',
      success_msg: 'Thanks',
      redirect_url: 'https://example.com/{record_id}',
      email: 'a@example.com,b@example.com',
      submit_another_form: true,
      show_blank_form: true,
      banner_image_url: 'noco/banner.png',
      logo_url: 'noco/logo.png',
      redirect_after_secs: '5',
      meta: { submit_label: 'Off it goes', hide_branding: true, max_answers: 10, mine: 1 },
    }
    const path = `${M}/forms/${viewId}`
    expect((await shop.rest.patch(path, body)).body.view).toMatchObject(body)
    const { columns, ...own } = (await shop.rest.get(path)).body
    expect(own).toMatchObject(body)
    expect(columns).toHaveLength(table.columns.length)
    const cleared = {
      heading: '',
      redirect_url: null,
      email: {},
      logo_url: null,
      meta: { max_answers: null },
    }
    expect((await shop.rest.patch(path, cleared)).body.view).toMatchObject({
      heading: 'Ask us',
      redirect_url: null,
      email: null,
      logo_url: null,
      meta: { submit_label: 'Off it goes', mine: 1 },
    })
    // A form that a client sends back whole has no heading of its own after that either.
    await shop.rest.patch(path, { ...(await shop.rest.get(path)).body, subheading: 'Now' })
    await shop.rest.patch(`${M}/views/${viewId}`, { title: 'Tell us' })
    expect((await shop.rest.get(path)).body).toMatchObject({ heading: 'Tell us', subheading: 'Now' })
    // As clients of long ago say it.
    const old = { email: '{"a@example.com":true,"b@example.com":false}', logo_url: { path: 'noco/l.png' } }
    expect((await shop.rest.patch(path, old)).body.view).toMatchObject({
      email: 'a@example.com',
      logo_url: 'noco/l.png',
    })
    for (const wrong of [
      { redirect_url: 'javascript:alert(1)' },
      { redirect_after_secs: 'soon' },
      { email: 'nobody' },
      { heading: 'x'.repeat(501) },
      { heading: 'null \u0000' },
      { meta: { max_answers: 'many' } },
    ]) {
      expect((await shop.rest.patch(path, wrong)).status).toBe(400)
    }
  })
})
