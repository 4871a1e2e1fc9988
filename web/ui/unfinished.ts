/**
 * Focuses the first control of a form that holds something other than its value: a text that cannot be read, or a failed
 * upload. Such controls are in an element with `data-unfinished`. `data-invalid` also marks values that were refused.
 *
 * @returns true if there is one, without which the form must not be submitted
 */
export function focusUnfinished(form: HTMLElement | null): boolean {
  const control = form?.querySelector<HTMLElement>('[data-unfinished] :is(input, textarea, button)')
  control?.focus()
  return control != null
}
