import { describe, expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { png } from '../records/attachments-support.ts'
import { formTests } from './form-world.ts'

const tests = formTests()

describe('a public form', () => {
  test('leads to the first answer that the server refuses', async () => {
    const others = ['Mail', 'Phone', 'Why'].map((title) => ({ title, type: 'LongText' as const }))
    const world = await tests.create([{ title: 'Name', type: 'SingleLineText', unique: true }, ...others])
    const answer = async () => {
      const page = await tests.visit(world)
      await page.getByLabel('Name', { exact: true }).fill('Ann')
      await page.getByTestId('form-submit').click()
      return page
    }
    await (await answer()).getByTestId('form-submit').waitFor({ state: 'detached' })
    const page = await answer()
    const isLed = () =>
      page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Name')
    await page.getByTestId('form-problems').waitFor()
    await isLed()
    // Another refusal leads there again.
    await page.getByTestId('form-submit').click()
    await isLed()
  })

  test('lets the focus go on from a question with a list below it', async () => {
    const types = ['Time', 'Date', 'DateTime', 'Year', 'SingleLineText'] as const
    const world = await tests.create(types.map((type) => ({ title: type, type })))
    const page = await tests.visit(world)
    const last = page.getByLabel('SingleLineText', { exact: true })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
    for (const type of types.slice(0, -1)) {
      const input = page.getByLabel(type, { exact: true }).first()
      await input.click()
      expect(await focused()).toBe(type)
      await page.keyboard.press('Tab')
      await page.waitForFunction(
        (label) => document.activeElement?.getAttribute('aria-label') !== label,
        type,
      )
      await input.click()
      await last.click()
      await Bun.sleep(100)
      expect(await focused()).toBe('SingleLineText')
    }
  })

  test('says what is wrong, keeps answers over a reload, and sends them once, with files', async () => {
    const world = await tests.party()
    const page = await tests.visit(world)
    await page.getByLabel('Who are you?').waitFor()
    expect(await page.locator('strong').textContent()).toBe('friends')

    // What is wrong stands at each question and in a list, and the first of them has the focus.
    await page.getByLabel('Mail').fill('nobody')
    await page.getByLabel('Guests').fill('9')
    await page.getByTestId('form-submit').click()
    const problems = page.getByTestId('form-problems')
    await problems.waitFor()
    expect(await problems.locator('li').allTextContents()).toEqual([
      'Who are you?: This question is required',
      'Mail: Enter an email address such as ann@example.com',
      'Guests: The room is small',
      'Terms: Check this box to continue',
    ])
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await focused()).toBe('Who are you?')
    expect(await page.getByLabel('Who are you?').getAttribute('aria-invalid')).toBe('true')
    await problems.getByText('Guests').click()
    expect(await focused()).toBe('Guests')
    expect(await world.records()).toEqual([])

    // Conditions follow at once; a question that goes takes its answer along.
    expect(await page.getByLabel('Why').count()).toBe(0)
    await page.getByLabel('Vegan').check()
    await page.getByLabel('Why').fill('Because')
    await page.getByLabel('Fish').check()
    expect(await page.getByLabel('Why').count()).toBe(0)

    await page.getByLabel('Who are you?').pressSequentially('Ann 👩')
    await page.reload()
    expect(await page.getByLabel('Who are you?').inputValue()).toBe('Ann 👩')
    expect(await page.getByLabel('Fish').isChecked()).toBe(true)

    await page.getByLabel('Mail').fill('ann@example.com')
    await page.getByLabel('Guests').fill('2')
    await page.getByLabel('Terms').check()
    await page.setInputFiles('input[type=file]', [
      { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from(png(30, 20)) },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') },
    ])
    await page.getByTestId('form-submit').dblclick()
    await page.getByTestId('form-done').waitFor()
    expect(await page.getByTestId('form-done').locator('strong').textContent()).toBe('you')
    const [record, ...others] = await world.records()
    expect(others).toEqual([])
    expect(record).toMatchObject({ Name: 'Ann 👩', Mail: 'ann@example.com', Meal: 'Fish', Guests: 2 })
    expect(record?.Why).toBeNull()
    expect(readAttachments(record?.Files ?? null).map(({ title }) => title)).toEqual([
      'photo.png',
      'notes.txt',
    ])

    await page.getByRole('button', { name: 'Submit another response' }).click()
    expect(await page.getByLabel('Who are you?').inputValue()).toBe('')
  })

  test('is filled in by its address, cleared after a question, and kept where it cannot be sent', async () => {
    const world = await tests.party()
    const query = '?who%20are=x&Name=Ann&guests=3&Terms=true&Meal=nothing&_readonly=guests&_hidden=Terms'
    const page = await tests.visit(world, query)
    const name = page.getByLabel('Who are you?')
    expect(await name.inputValue()).toBe('Ann')
    await name.fill('Anna')
    await page.reload()
    expect(await name.inputValue()).toBe('Anna')
    expect(await page.getByLabel('Terms').count()).toBe(0)
    expect(await page.locator('[data-question]').filter({ hasText: 'Guests' }).textContent()).toContain('3')
    expect(await page.getByLabel('Guests', { exact: true }).getByRole('textbox').count()).toBe(0)

    await name.fill('Someone else')
    await page.getByRole('button', { name: 'Clear form' }).click()
    await page.getByRole('button', { name: 'Keep' }).click()
    expect(await name.inputValue()).toBe('Someone else')
    await page.getByRole('button', { name: 'Clear form' }).click()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Clear')
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    expect(await name.inputValue()).toBe('Ann')

    // The answers arrive and the reply is lost: sent again, they are still one record.
    const lostReply = async (route: Route) => {
      await route.fetch()
      await route.abort()
    }
    await page.route('**/trpc/shares.submit', lostReply, { times: 1 })
    await page.getByTestId('form-submit').click()
    await page.getByText('Your response was not submitted').waitFor()
    await page.getByTestId('form-submit').click()
    await page.getByTestId('form-done').waitFor()
    expect(await world.records()).toMatchObject([{ Name: 'Ann', Guests: 3, Meal: null }])
    expect(await world.records()).toHaveLength(1)
  })

  test('asks for a password, says in words that it is closed, and may stand in other sites', async () => {
    const world = await tests.party()
    const api = tests.app().trpc(tests.owner().token)
    const change = (patch: { password?: string | null }) =>
      api.shares.save.mutate({ kind: 'view', targetId: world.view.id, patch })
    await change({ password: 'sésame 🌱' })
    const page = await tests.visit(world)
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('Incorrect password.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill('sésame 🌱')
    await page.keyboard.press('Enter')
    await page.getByLabel('Who are you?').waitFor()

    await change({ password: null })
    const notice = async (rest = '') => {
      const other = await tests.visit(world, rest)
      return (await other.getByTestId('form-notice').textContent()) ?? ''
    }
    await world.say({}, { closesAt: '2020-01-01T00:00:00Z' })
    expect(await notice()).toContain('This form is closed')
    await world.say({}, { closesAt: null })
    expect(await notice('nowhere')).toContain('Form not found')

    // The app's own address leads to the light page, in no other site's frame but in this page's.
    const old = await tests.open(`/#/nc/form/${world.shareId}?Name=Ben`)
    await old.getByLabel('Who are you?').waitFor()
    expect(new URL(old.url()).pathname).toBe('/form')
    expect(await old.getByLabel('Who are you?').inputValue()).toBe('Ben')
    const policy = async (path: string) =>
      (await fetch(`${tests.app().url}${path}`)).headers.get('content-security-policy')
    expect(await policy('/form')).toContain('frame-ancestors *')
    expect(await policy('/dashboard')).toContain("frame-ancestors 'self'")
  })

  test('is walked through by Tab, past calendars and lists', async () => {
    const choices = { choices: [{ title: 'red' }] }
    const world = await tests.create([
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Day', type: 'Date' },
      { title: 'At', type: 'DateTime' },
      { title: 'Tags', type: 'MultiSelect', options: choices },
      { title: 'Rate', type: 'Rating' },
    ])
    const page = await tests.visit(world)
    await page.getByTestId('form').waitFor()
    const steps: (string | undefined)[] = []
    for (let step = 0; step < 6; step++) {
      await page.keyboard.press('Tab')
      steps.push(
        await page.evaluate(() => {
          const box = document.activeElement?.closest('[data-question]')
          return (box?.querySelector('[id$="-label"]') ?? document.activeElement)?.textContent ?? undefined
        }),
      )
    }
    expect(steps).toEqual(['Name', 'Day', 'At', 'Tags', 'Rate', 'Submit'])
  })

  test('does not check the spelling of JSON', async () => {
    const world = await tests.create([{ title: 'Data', type: 'JSON' }])
    const page = await tests.visit(world)
    expect(await page.getByLabel('Data').getAttribute('spellcheck')).toBe('false')
  })

  test('asks one question at a time, by keys alone', async () => {
    const world = await tests.party()
    const redirectUrl = 'https://example.com/thanks?id={record_id}'
    await world.say({}, { redirectUrl, redirectAfterSeconds: 60 })
    const page = await tests.visit(world, '/survey', { width: 390 })
    const at = () => page.locator('[role="status"]').textContent()
    const label = () => page.locator('[data-question] [id$="-label"]').textContent()
    await page.getByRole('button', { name: 'Start' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('1 / 6').waitFor()
    // Nothing said yet: it stays, and says why.
    await page.keyboard.press('Enter')
    await page.getByText('This question is required').waitFor()
    await page.keyboard.type('Ann')
    await page.keyboard.press('Enter')
    await page.getByText('2 / 6').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('3 / 6').waitFor()
    // A keyboard without Latin letters.
    const keys = { key: 'с', code: 'KeyC', bubbles: true, cancelable: true }
    await page.getByTestId('survey').dispatchEvent('keydown', keys)
    expect(await page.getByLabel('Vegan').isChecked()).toBe(true)
    // The answer asks for one question more.
    await page.getByText('3 / 7').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('4 / 7').waitFor()
    expect(await label()).toContain('Why')
    await page.keyboard.type('Because')
    await page.getByTestId('survey-next').click()
    await page.getByText('5 / 7').waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByText('4 / 7').waitFor()
    expect(await page.getByLabel('Why').inputValue()).toBe('Because')
    for (const step of ['5 / 7', '6 / 7', '7 / 7']) {
      await page.getByTestId('survey-next').click()
      await page.getByText(step).waitFor()
    }
    expect(await at()).toBe('7 / 7')
    await page.keyboard.press('y')
    await page.keyboard.press('Enter')
    await page.getByText('Ready to submit').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Redirecting to example.com in').waitFor()
    const onward = page.getByRole('link', { name: 'Go to example.com' })
    expect(await onward.getAttribute('href')).toBe('https://example.com/thanks?id=1')
    await page.getByRole('button', { name: 'Stay here' }).click()
    await page.getByText('You stay here.').waitFor()
    expect(await world.records()).toMatchObject([{ Name: 'Ann', Meal: 'Vegan', Why: 'Because', Terms: true }])
  })

  test('takes no input while it is sent, and again where that fails', async () => {
    const world = await tests.party()
    const page = await tests.visit(world)
    const name = page.getByLabel('Who are you?')
    await name.fill('Ann')
    await page.getByLabel('Terms').check()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(
      '**/trpc/shares.submit',
      async (route: Route) => {
        await held
        await route.abort()
      },
      { times: 1 },
    )
    await page.getByTestId('form-submit').click()
    await page.locator('[data-testid="form-submit"][aria-busy]').waitFor()
    const isInert = () => name.evaluate((one) => one.closest('[inert]') !== null)
    expect(await isInert()).toBe(true)
    release()
    await page.getByText('Your response was not submitted').waitFor()
    expect(await isInert()).toBe(false)
    const isSubmit = (one: Element) => one === document.activeElement
    expect(await page.getByTestId('form-submit').evaluate(isSubmit)).toBe(true)
    await tests.app().trpc(tests.owner().token).views.delete.mutate({ viewId: world.view.id })
    await page.keyboard.press('Enter')
    await page.getByText('Your response was not submitted. Your answers are still here. This link').waitFor()
  })

  test('tells to reload where it asks for more than it did, and keeps the answers', async () => {
    const world = await tests.create([
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Mail', type: 'Email' },
    ])
    const ask = (show: boolean) =>
      tests
        .app()
        .trpc(tests.owner().token)
        .views.arrange.mutate({ viewId: world.view.id, fields: [{ fieldId: world.id('Mail'), show }] })
    await ask(false)
    const page = await tests.visit(world)
    await page.getByLabel('Name', { exact: true }).fill('Ann')
    await ask(true)
    await world.say({ Mail: { required: true } })
    await page.getByTestId('form-submit').click()
    await page.getByText('The form has changed since you opened it').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ann')
    await page.getByLabel('Mail', { exact: true }).waitFor()
  })

  test('keeps options without a letter where another one is chosen by its letter', async () => {
    const choices = Array.from({ length: 28 }, (_, n) => ({ title: `Option ${n + 1}` }))
    const world = await tests.create([{ title: 'Tags', type: 'MultiSelect', options: { choices } }])
    await world.say({ Tags: { layout: 'list' } })
    const page = await tests.visit(world, '/survey')
    await page.getByRole('button', { name: 'Start' }).click()
    const option = (title: string) => page.getByLabel(title, { exact: true })
    await option('Option 28').check()
    await page.keyboard.press('a')
    expect(await Promise.all([option('Option 1').isChecked(), option('Option 28').isChecked()])).toEqual([
      true,
      true,
    ])
  })
})
