import { type ComponentPropsWithoutRef, createContext, useContext } from 'react'

const InsideMain = createContext(false)

/**
 * The main landmark of the page. A screen names its own content so, wherever it is drawn: inside the app's
 * frame, which has the landmark already, it is a plain `div`, as a page has exactly one.
 */
export function Main(props: ComponentPropsWithoutRef<'main'>) {
  const isInside = useContext(InsideMain)
  if (isInside) return <div {...props} />
  return (
    <InsideMain value>
      <main {...props} />
    </InsideMain>
  )
}
