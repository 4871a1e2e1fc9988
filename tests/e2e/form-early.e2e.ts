import { describe, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { formTests } from './form-world.ts'

const tests = formTests()

const FIELDS = [
  { title: 'Name', type: 'SingleLineText' as const },
  { title: 'Notes', type: 'LongText' as const },
  { title: 'Guests', type: 'Number' as const },
  { title: 'Price', type: 'Decimal' as const },
  { title: 'Due', type: 'Date' as const, options: { format: 'DD.MM.YYYY' } },
  { title: 'Mail', type: 'Email' as const },
  { title: 'Terms', type: 'Checkbox' as const },
  { title: 'Stars', type: 'Rating' as const },
  {
    title: 'Meal',
    type: 'SingleSelect' as const,
    options: { choices: [{ title: 'Fish' }, { title: 'Vegan' }] },
  },
]

/** Opens a form and holds back the script that completes it, until `release`. */
async function visitHeldBack(world: Awaited<ReturnType<typeof tests.create>>, query = '', width = 1280) {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const page = await tests.open('/form', { width })
  let asked = 0
  await page.route('**/assets/completion-*.js', async (route: Route) => {
    asked += 1
    await promise
    await route.continue()
  })
  await page.goto(`${tests.app().url}/form#/nc/form/${world.shareId}${query}`)
  await page.reload()
  return { page, release, asked: () => asked }
}

/** Opens a form whose second script cannot be loaded. */
async function visitBroken(world: Awaited<ReturnType<typeof tests.create>>) {
  const page = await tests.open('/form')
  await page.route('**/assets/completion-*.js', (route) => route.abort())
  // A page reloads itself once for a missing script; this one has done so.
  await page.evaluate(() => localStorage.setItem('sheaf.reloadedAt', String(Date.now() + 60_000)))
  await page.goto(`${tests.app().url}/form#/nc/form/${world.shareId}`)
  await page.reload()
  return page
}

const box = (page: Page, label: string) => page.getByLabel(label, { exact: true })

/** Waits until the script has completed the form. */
const completed = (page: Page) => page.locator('[data-testid="form"][data-ready]').waitFor()

describe('a public form whose second script is late', () => {
  test('takes answers, and submits them once it has arrived', async () => {
    const world = await tests.create(FIELDS)
    const { page, release } = await visitHeldBack(world)
    await box(page, 'Name').fill('Ann')
    await box(page, 'Notes').fill('one\ntwo')
    await box(page, 'Guests').fill('4')
    await box(page, 'Price').fill('2.5')
    await box(page, 'Due').fill('24.12.2026')
    await box(page, 'Mail').fill('ann@example.com')
    await box(page, 'Terms').check()
    await page.getByLabel('3 of 5').check({ force: true })
    await box(page, 'Meal').selectOption('Vegan')
    await page.getByTestId('form-submit').click()
    expect(await page.getByTestId('form-submit').getAttribute('aria-busy')).toBe('true')
    expect(await world.records()).toEqual([])
    release()
    await page.getByTestId('form-done').waitFor()
    expect(await world.records()).toMatchObject([
      {
        Name: 'Ann',
        Notes: 'one\ntwo',
        Guests: 4,
        Price: 2.5,
        Due: '2026-12-24',
        Mail: 'ann@example.com',
        Terms: true,
        Stars: 3,
        Meal: 'Vegan',
      },
    ])
  })

  test('names the answers that it finds wrong, and submits none', async () => {
    const world = await tests.create(FIELDS)
    await world.say({
      Name: { required: true },
      Mail: { rules: [{ rule: 'email', value: null, message: null }] },
    })
    const { page, release } = await visitHeldBack(world)
    await box(page, 'Guests').fill('many')
    await box(page, 'Mail').fill('nobody')
    await page.getByTestId('form-submit').click()
    release()
    await page.getByTestId('form-problems').waitFor()
    expect(await page.getByTestId('form-problems').locator('li').allTextContents()).toEqual([
      'Name: This question is required',
      'Guests: “many” is not a number',
      'Mail: Enter an email address such as ann@example.com',
    ])
    expect(await box(page, 'Guests').inputValue()).toBe('many')
    expect(await world.records()).toEqual([])
  })

  test('keeps the input in use with its caret, and the answers over a reload', async () => {
    const world = await tests.create(FIELDS)
    const { page, release } = await visitHeldBack(world)
    await box(page, 'Mail').fill('ann@example.com')
    await box(page, 'Name').fill('An')
    await page.keyboard.press('Home')
    await page.keyboard.type('X')
    release()
    await completed(page)
    await page.keyboard.type('Y')
    expect(await box(page, 'Name').inputValue()).toBe('XYAn')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Notes')
    await page.reload()
    expect(await box(page, 'Name').inputValue()).toBe('XYAn')
    expect(await box(page, 'Mail').inputValue()).toBe('ann@example.com')
  })

  test('does not move as it is completed', async () => {
    const world = await tests.create(FIELDS)
    for (const width of [1280, 390]) {
      const { page, release } = await visitHeldBack(world, '', width)
      await box(page, 'Name').waitFor()
      const places = () =>
        page
          .getByTestId('question')
          .evaluateAll((all) => all.map((one) => JSON.stringify(one.getBoundingClientRect())))
      const before = await places()
      release()
      await completed(page)
      expect(await places()).toEqual(before)
    }
  })

  test('shows no question before its condition is known, nor one that the address answers', async () => {
    const world = await tests.create(FIELDS)
    const showsAllButOne = async (query = '') => {
      const { page, release, asked } = await visitHeldBack(world, query)
      while (asked() === 0) await Bun.sleep(10)
      expect(await page.getByTestId('question').count()).toBe(0)
      release()
      await page.getByTestId('question').first().waitFor()
      expect(await page.getByTestId('question').count()).toBe(FIELDS.length - 1)
    }
    await showsAllButOne('?Name=Ann&_hidden=Name')
    await world.say({ Notes: { showIf: { fieldId: world.id('Name'), operator: 'eq', value: 'Bob' } } })
    await showsAllButOne()
  })
})

describe('a public form whose second script cannot be loaded', () => {
  test('says so, keeps what is typed, and tries again', async () => {
    const world = await tests.create(FIELDS)
    const page = await visitBroken(world)
    await box(page, 'Name').fill('Ann')
    const failure = page.getByTestId('form-failure')
    await failure.waitFor()
    expect(await failure.textContent()).toContain('Part of the app could not be loaded.')
    expect(await box(page, 'Name').inputValue()).toBe('Ann')
    await page.unroute('**/assets/completion-*.js')
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.getByTestId('form-submit').click()
    await page.getByTestId('form-done').waitFor()
    expect(await world.records()).toMatchObject([{ Name: 'Ann' }])
  })

  test('says so in place of a form that waits for it, and tries again', async () => {
    const world = await tests.create(FIELDS)
    await world.say({ Notes: { showIf: { fieldId: world.id('Name'), operator: 'notblank', value: null } } })
    const page = await visitBroken(world)
    const notice = page.getByTestId('form-notice')
    await notice.waitFor()
    await page.unroute('**/assets/completion-*.js')
    await notice.getByRole('button', { name: 'Try again' }).click()
    await box(page, 'Name').fill('Ann')
    await box(page, 'Notes').fill('seen')
    await page.getByTestId('form-submit').click()
    await page.getByTestId('form-done').waitFor()
    expect(await world.records()).toMatchObject([{ Name: 'Ann', Notes: 'seen' }])
  })
})
