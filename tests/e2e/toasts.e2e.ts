import { describe, expect, test } from 'bun:test'
import { gridTests } from './grid-page.ts'

const tests = gridTests()

const FIELDS = [
  { title: 'Title', type: 'SingleLineText' as const },
  { title: 'Stock', type: 'Number' as const },
]

describe('a toast', () => {
  test('about a field that was not saved is a warning, and leaves the breadcrumb uncovered', async () => {
    const { page } = await tests.open(FIELDS, [['Apple', 5]])
    await page.getByTestId('add-field').first().click()
    await page.getByLabel('Field name').fill('Half done')
    await page.mouse.click(600, 780)
    const toast = page.getByRole('region', { name: 'Notifications' }).getByRole('alert')
    await toast.getByText('Field not saved').waitFor()
    expect(await toast.getAttribute('data-tone')).toBe('warning')
    const [shown, breadcrumb] = await Promise.all([
      toast.boundingBox(),
      page.getByRole('navigation', { name: 'Breadcrumb' }).boundingBox(),
    ])
    expect(shown?.y).toBeGreaterThanOrEqual((breadcrumb?.y ?? 0) + (breadcrumb?.height ?? Infinity))

    await toast.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Field name').inputValue()).toBe('Half done')
  })

  test('about a field that was not saved leads back to it from another page', async () => {
    const { page } = await tests.open(FIELDS, [['Apple', 5]])
    await page.getByTestId('add-field').first().click()
    await page.getByLabel('Field name').fill('Half done')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByTestId('add-field').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByTestId('field-editor').waitFor()
    expect(await page.getByLabel('Field name').inputValue()).toBe('Half done')
  })

  test.each([
    ['saved', 'Half done'],
    ['refused', 'Title'],
  ])('says whether a field was %s whose editor was closed while it saved', async (end, title) => {
    const { page, problems } = await tests.open(FIELDS, [['Apple', 5]])
    const released = Promise.withResolvers<void>()
    await page.route('**/trpc/schema.createField*', async (route) => {
      await released.promise
      await route.continue()
    })
    await page.getByTestId('add-field').first().click()
    await page.getByLabel('Field name').fill(title)
    await page.getByTestId('field-editor').getByRole('button', { name: 'Add field' }).click()
    await page.mouse.click(600, 780)
    await page.getByTestId('field-editor').waitFor({ state: 'detached' })
    // The next editor stays open.
    await page.getByTestId('add-field').first().click()
    await page.getByLabel('Field name').fill('Next')
    released.resolve()
    if (end === 'saved') {
      await page.getByRole('columnheader', { name: title }).waitFor()
      expect(await page.getByText('Field not saved').count()).toBe(0)
    } else {
      await page.getByText('A field named “Title” already exists').waitFor()
      await page.getByText('Field not saved').waitFor()
      problems.length = 0 // The browser notes each refusal.
    }
    expect(await page.getByLabel('Field name').inputValue()).toBe('Next')
  })
})

test('the toolbar says that fields are hidden, not how many there are', async () => {
  const { page } = await tests.open(FIELDS, [['Apple', 5]])
  await page.getByTestId('fields-button').click()
  await page.getByRole('dialog', { name: 'Fields' }).getByLabel('Stock').click()
  await page.getByRole('button', { name: 'Fields 1 hidden' }).waitFor()
})
