import { type ComponentPropsWithoutRef, createContext, useContext } from 'react'

const InsideMain = createContext(false)

/** The page's main landmark. Inside the app's frame, which has the landmark already, it is a plain `div`. */
export function Main(props: ComponentPropsWithoutRef<'main'>) {
  const isInside = useContext(InsideMain)
  if (isInside) return <div {...props} />
  return (
    <InsideMain value>
      <main {...props} />
    </InsideMain>
  )
}
