import { describe, expect, test } from 'bun:test'
import { optionsOf } from '../../src/core/views/index.ts'
import { png } from '../records/attachments-support.ts'
import { createMember } from '../support/factories.ts'
import { FORM_FIELDS, formTests } from './form-world.ts'
import { eventually } from './grid-page.ts'

const tests = formTests()

describe('the builder of a form', () => {
  test('words, orders, requires and takes away questions, each saved at once and undone', async () => {
    const world = await tests.create(FORM_FIELDS)
    const page = await tests.build(world)
    const cards = page.getByTestId('question-card')
    await cards.first().waitFor()
    const order = () => cards.evaluateAll((all) => all.map((card) => card.getAttribute('aria-label')))
    const until = async (titles: string[]) =>
      expect(await eventually(order, (now) => now.join() === titles.join())).toEqual(titles)
    await until(['Name', 'Mail', 'Meal', 'Why', 'Guests', 'Files', 'Terms'])
    const line = async (title: string) =>
      (await world.saved()).fields.find(({ fieldId }) => fieldId === world.id(title))
    await page.getByText('Your changes are live immediately').waitFor()

    await page.getByLabel('Form title').fill('The party')
    await page.keyboard.press('Enter')
    await page.getByLabel('Question for Name').fill('Who are you?')
    await page.keyboard.press('Enter')
    await page.getByTestId('question-settings').getByLabel('Required').check()
    await page.getByRole('button', { name: 'Move Mail', exact: true }).press('ArrowDown')
    await until(['Who are you?', 'Meal', 'Mail', 'Why', 'Guests', 'Files', 'Terms'])
    await page.getByRole('button', { name: 'Remove Files' }).click()
    await until(['Who are you?', 'Meal', 'Mail', 'Why', 'Guests', 'Terms'])
    await page.keyboard.press('ControlOrMeta+z')
    await until(['Who are you?', 'Meal', 'Mail', 'Why', 'Guests', 'Files', 'Terms'])

    // A rule, with what to say where it is broken.
    await page.getByLabel('Question for Guests').click()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('menuitem', { name: 'At most' }).click()
    await page.getByRole('spinbutton', { name: 'At most' }).fill('5')
    await page.getByLabel('Custom error message').fill('Too many')
    await page.getByLabel('Question for Why').click()
    await page.getByRole('button', { name: 'Add condition' }).click()
    const condition = page.getByTestId('filter-line')
    await condition.getByLabel('Field').selectOption({ label: 'Mail' })
    await condition.getByLabel('Value').fill('ann@example.com')
    const saved = await eventually(world.saved, ({ fields }) =>
      fields.some(({ form }) => form?.showIf?.toString() !== undefined && form.showIf !== null),
    )
    const formOf = (title: string) => saved.fields.find(({ fieldId }) => fieldId === world.id(title))?.form
    expect(formOf('Name')).toMatchObject({ label: 'Who are you?', required: true })
    expect(formOf('Guests')?.rules).toEqual([{ rule: 'max', value: 5, message: 'Too many' }])
    expect(formOf('Why')?.showIf).toMatchObject({
      children: [{ fieldId: world.id('Mail'), value: 'ann@example.com' }],
    })
    expect(optionsOf(saved, 'form').heading).toBe('The party')

    await page.getByRole('tab', { name: 'Form' }).click()
    // A question that is chosen meanwhile stands under the questions.
    await page.getByLabel('Question for Why').click()
    await page.getByRole('tab', { name: 'Questions', selected: true }).waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    await page.getByLabel('Redirect to a URL').fill('javascript:alert(1)')
    await page.getByLabel('Maximum number of responses').fill('20')
    await page.getByText('Enter a URL that starts with').waitFor()
    await page.getByLabel('One response per person').check()
    const options = async () => optionsOf(await world.saved(), 'form')
    expect(await eventually(options, (now) => now.onePerPerson)).toMatchObject({
      redirectUrl: null,
      maxAnswers: 20,
      onePerPerson: true,
    })
    expect((await line('Files'))?.show).toBe(true)
  })

  test('formats texts in place, takes safe links only, and keeps the source of blocks that did not change', async () => {
    const world = await tests.create(FORM_FIELDS)
    const stored = '* one\n* two\n\n\n<b>raw</b> \\*x\\*\n\nlast'
    await world.say({}, { subheading: stored })
    const page = await tests.build(world)
    const subheading = async () => optionsOf(await world.saved(), 'form').subheading
    const open = async () => {
      await page.getByRole('button', { name: /^Form description/ }).click()
      // Until its code is there, a text area stands in for the editor.
      const text = page
        .getByRole('textbox', { name: 'Form description' })
        .and(page.locator('[contenteditable]'))
      await text.waitFor()
      return text
    }
    const text = await open()
    expect(await text.locator('b, img, script').count()).toBe(0)
    const hasFocus = () => text.evaluate((element) => element === document.activeElement)
    expect(await eventually(hasFocus, Boolean)).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.type('See ')
    await page.keyboard.press('ControlOrMeta+b')
    await page.keyboard.type('you')
    expect(await page.getByRole('button', { name: 'Bold' }).getAttribute('aria-pressed')).toBe('true')
    await page.keyboard.press('ControlOrMeta+Enter')
    expect(await eventually(subheading, (now) => now !== stored)).toBe(`${stored}\n\nSee **you**`)

    await page.keyboard.press('ControlOrMeta+k')
    const address = page.getByLabel('Link address')
    await address.fill('javascript:alert(1)')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'https://' }).waitFor()
    await address.fill('example.com/a')
    await page.keyboard.press('Enter')
    await address.waitFor({ state: 'detached' })
    await text.evaluate((element) => {
      const data = new DataTransfer()
      data.setData(
        'text/html',
        '<p>from <i>outside</i> <img src=x><script>alert(1)</script><a href="javascript:x">z</a></p>',
      )
      element.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
      )
    })
    await page.getByLabel('Form title').click()
    const saved = await eventually(subheading, (now) => now?.includes('outside') === true)
    expect(saved?.startsWith(stored)).toBe(true)
    expect(saved).toContain('[example.com/a](https://example.com/a)')
    expect(saved).toContain('*outside*')
    expect(saved).not.toContain('javascript')

    // Escape drops the edit and returns to the text; opening without an edit writes nothing.
    await open()
    expect(await eventually(hasFocus, Boolean)).toBe(true)
    await page.keyboard.type('dropped')
    await page.keyboard.press('Escape')
    const button = page.getByRole('button', { name: /^Form description/ })
    expect(await eventually(() => button.evaluate((own) => own === document.activeElement), Boolean)).toBe(
      true,
    )
    expect(await subheading()).toBe(saved ?? null)
  })

  test('keeps a text that is being typed when somebody else saves another one', async () => {
    const world = await tests.create(FORM_FIELDS)
    const page = await tests.build(world)
    await page.getByRole('button', { name: /^Form description/ }).click()
    const text = page
      .getByRole('textbox', { name: 'Form description' })
      .and(page.locator('[contenteditable]'))
    await text.waitFor()
    const hasFocus = () => text.evaluate((element) => element === document.activeElement)
    expect(await eventually(hasFocus, Boolean)).toBe(true)
    const saveAsOther = async (heading: string, subheading: string) => {
      await world.say({}, { heading, subheading })
      const shown = () => page.getByLabel('Form title').inputValue()
      expect(await eventually(shown, (now) => now === heading)).toBe(heading)
    }
    // An unchanged text follows.
    await saveAsOther('First', 'Theirs')
    expect(
      await eventually(
        () => text.textContent(),
        (now) => now === 'Theirs',
      ),
    ).toBe('Theirs')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Mine')
    await saveAsOther('Second', 'Theirs again')
    await page.keyboard.type(' too')
    expect(await text.textContent()).toBe('Mine too')
    await page.keyboard.press('ControlOrMeta+Enter')
    const subheading = async () => optionsOf(await world.saved(), 'form').subheading
    expect(await eventually(subheading, (now) => now === 'Mine too')).toBe('Mine too')
  })

  test('takes a banner, tries answers out without writing, and lets editors fill it in', async () => {
    const world = await tests.party()
    const page = await tests.build(world)
    await page.setInputFiles('[data-testid="banner-file"]', {
      name: 'wide.png',
      mimeType: 'image/png',
      buffer: Buffer.from(png(300, 200)),
    })
    await page.getByRole('button', { name: 'Crop' }).click()
    await page.getByRole('button', { name: 'Change banner' }).waitFor()
    const visitor = await tests.visit(world)
    const banner = visitor.locator('img').first()
    await banner.waitFor()
    const size = () => banner.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight])
    expect(await eventually(size, ([width]) => width !== 0)).toEqual([1600, 400])

    await page.getByTestId('form-mode-preview').click()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByTestId('form-problems').waitFor()
    await page.getByLabel('Who are you?').fill('Ann')
    await page.getByLabel('Terms').check()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('nothing was saved').waitFor()
    expect(await world.records()).toEqual([])

    const editor = await createMember(tests.app(), world.baseId, 'editor')
    const viewer = await createMember(tests.app(), world.baseId, 'viewer')
    const own = await tests.build(world, editor)
    await own.getByTestId('form-mode-fill').click()
    await own.getByLabel('Who are you?').fill('Ben')
    await own.getByLabel('Terms').check()
    await own.getByTestId('form-submit').click()
    await own.getByTestId('form-done').waitFor()
    expect(await world.records()).toMatchObject([{ Name: 'Ben', Terms: true }])
    const looking = await tests.build(world, viewer)
    await looking.getByTestId('form-preview').waitFor()
    expect(await looking.locator('[data-testid^="form-mode-"]').allTextContents()).toEqual(['Preview'])
  })

  test('follows a condition that somebody else changes, and does not bring its own back', async () => {
    const world = await tests.party()
    const page = await tests.build(world)
    await page.getByLabel('Question for Why').click()
    const line = page.getByTestId('filter-line')
    await line.waitFor()
    const showIf = {
      join: 'and' as const,
      children: [{ fieldId: world.id('Name'), operator: 'eq', value: 'Bob' }],
    }
    await world.say({ Why: { showIf } })
    const field = () => line.getByLabel('Field').inputValue()
    expect(await eventually(field, (id) => id === world.id('Name'))).toBe(world.id('Name'))
    await page.getByLabel('Question for Guests').click()
    await line.waitFor({ state: 'detached' })
    await Bun.sleep(600)
    const saved = (await world.saved()).fields.find(({ fieldId }) => fieldId === world.id('Why'))
    expect(saved?.form?.showIf).toEqual(showIf)
  })

  test('keeps the closing time where a date is left incomplete, and says so', async () => {
    const world = await tests.create(FORM_FIELDS)
    const closesAt = '2099-01-01T10:00:00.000Z'
    await world.say({}, { closesAt })
    const page = await tests.build(world)
    await page.getByRole('tab', { name: 'Form', exact: true }).click()
    await page.getByLabel('Close form on').focus()
    await page.keyboard.press('Backspace')
    await page.getByLabel('Maximum number of responses').fill('7')
    await page.getByText('Choose a date and a time').waitFor()
    await page.getByLabel('Redirect to a URL').click()
    const options = async () => optionsOf(await world.saved(), 'form')
    expect(await eventually(options, (now) => now.maxAnswers === 7)).toMatchObject({ closesAt })
  })
})
