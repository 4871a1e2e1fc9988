import { describe, expect, test } from 'bun:test'
import { FIELDS, ROWS, startField, written } from './formula-page.ts'
import { eventually, gridTests } from './grid-page.ts'

const tests = gridTests()

describe('the formula editor', () => {
  test('completes functions and fields by keys, shows what comes out, and makes the field', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await startField(grid, 'formula')
    await page.getByTestId('formula-input').click()
    await page.keyboard.type('ro')
    await page.keyboard.press('Enter')
    expect(await written(grid)).toBe('ROUND()')
    await page.keyboard.type('net')
    expect(await page.getByTestId('formula-offer').first().textContent()).toBe('Unit (net) price')
    await page.keyboard.press('Tab')
    await page.keyboard.type(' * {am')
    await page.keyboard.press('Enter')
    await page.keyboard.type(', 1')
    expect(await written(grid)).toBe('ROUND({Unit (net) price} * {Amount}, 1)')
    expect(await page.locator('code [data-current]').textContent()).toBe('[digits]')
    const results = page.getByTestId('formula-result')
    await results.first().waitFor()
    expect(await results.allTextContents()).toEqual(['8', '1.5'])
    await page.keyboard.press('ControlOrMeta+Enter')
    const made = page.locator('[role="columnheader"]', { hasText: 'Formula' })
    await made.waitFor()
    const fieldId = await made.getAttribute('data-field')
    const cell = page.locator(`[role="gridcell"][data-row="1"][data-field="${fieldId}"]`)
    expect(
      await eventually(
        () => cell.textContent(),
        (text) => text === '1.5',
      ),
    ).toBe('1.5')
  })

  test('is left by Escape one layer at a time, and the browser’s undo takes an insertion back', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await startField(grid, 'formula')
    await page.getByTestId('formula-input').click()
    await page.keyboard.type('pri')
    await page.keyboard.press('Escape')
    expect(await page.getByTestId('field-editor').isVisible()).toBe(true)
    // The offers were sent away: Enter is a line end again.
    await page.keyboard.press('Enter')
    expect(await written(grid)).toBe('pri\n')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    expect(await written(grid)).toBe('{Price}')
    await page.keyboard.press('ControlOrMeta+z')
    expect(await written(grid)).toBe('pr')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await page.getByTestId('field-editor').count()).toBe(0)
    expect(grid.writes()).toEqual([])
  })

  test('says what is wrong once one stops typing, and goes there', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await startField(grid, 'formula')
    expect(await page.getByTestId('formula-problem').count()).toBe(0)
    await page.getByTestId('formula-input').fill('{Price} + {Nope} + UPPR("x")')
    const problems = page.getByTestId('formula-problem')
    await problems.first().waitFor()
    expect(await problems.allTextContents()).toEqual([
      'There is no field named “Nope”',
      'Function UPPR is not available',
    ])
    await problems.first().click()
    const selected = await page
      .getByTestId('formula-input')
      .evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd))
    expect(selected).toBe('{Nope}')
    await page.getByRole('button', { name: 'Add field', exact: true }).last().click()
    await page.getByRole('alert').filter({ hasText: 'There is no field named “Nope”' }).waitFor()
    expect(await written(grid)).toBe('{Price} + {Nope} + UPPR("x")')
    await page.keyboard.press('Escape')
    // The refusal is the test's own; the browser counts it as an error of the page.
    grid.problems.length = 0
  })

  test('offers formats by what comes out, and takes them back when that changes', async () => {
    const grid = await tests.open(FIELDS, ROWS)
    const { page } = grid
    await startField(grid, 'formula')
    await page.getByTestId('formula-input').fill('{Price} * 2')
    await page.getByRole('button', { name: 'Formatting' }).click()
    await page.getByLabel('Show as').selectOption({ label: 'Currency' })
    await page.getByLabel('Currency').selectOption('EUR')
    await page.getByTestId('formula-input').fill('CONCAT({Title}, "!")')
    expect(await page.getByLabel('Show as').count()).toBe(0)
    await page.getByTestId('formula-input').fill('{Price} * 2')
    await page.getByRole('button', { name: 'Formatting' }).click()
    expect(await page.getByLabel('Show as').inputValue()).toBe('Decimal')
    await page.getByLabel('Show as').selectOption({ label: 'Percent' })
    await page.getByRole('button', { name: 'Add field', exact: true }).last().click()
    const made = page.locator('[role="columnheader"]', { hasText: 'Formula' })
    await made.waitFor()
    const cell = page.locator(
      `[role="gridcell"][data-row="0"][data-field="${await made.getAttribute('data-field')}"]`,
    )
    expect(
      await eventually(
        () => cell.textContent(),
        (text) => text === '3%',
      ),
    ).toBe('3%')
  })
})
