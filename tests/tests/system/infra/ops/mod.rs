mod damage;
mod documented;
mod export;
mod items;
mod progress;
mod suspension;
mod verify;
