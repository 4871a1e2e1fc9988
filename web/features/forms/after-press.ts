let isPressed = false
let waiting: (() => void)[] = []

function release(): void {
  isPressed = false
  // Behind the click that the release makes.
  setTimeout(() => {
    const due = waiting
    waiting = []
    for (const run of due) run()
  })
}

document.addEventListener(
  'pointerdown',
  () => {
    isPressed = true
  },
  true,
)
document.addEventListener('pointerup', release, true)
document.addEventListener('pointercancel', release, true)

/**
 * Runs at once, or, while a button is held down, after it is let go: a message that came up as an input was left
 * would move the page under the pointer, and the press would miss the button that it was meant for.
 */
export function afterPress(run: () => void): void {
  if (isPressed) waiting.push(run)
  else run()
}
