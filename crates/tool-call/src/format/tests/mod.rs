mod elements;
mod expect;
mod read;
